const EXPLANATION =
  'The number of the request. An endpoint counts from 0. Links, the creel command and the x-creel-request header of the response to the sender have the same number.';

/** '#42', with an explanation as its tooltip, because the first request is '#0'. */
export function RequestNumber({ index }: { readonly index: number }) {
  return (
    <span title={EXPLANATION} className="text-ink-2">
      #{index}
    </span>
  );
}
