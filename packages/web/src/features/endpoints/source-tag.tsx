import { Badge } from '../../ui/badge.tsx';

/** The Source/Tag of an endpoint, as the user entered it or as it was detected. */
export function SourceTag({ source }: { readonly source: string | null }) {
  if (source === null) return null;
  return (
    <Badge className="ml-auto max-w-28">
      <span dir="auto" className="truncate" title={`Source/Tag: ${source}`}>
        {source}
      </span>
    </Badge>
  );
}
