import { clsx } from 'clsx';

const COLORS: Readonly<Record<string, string>> = {
  GET: 'text-get',
  POST: 'text-post',
  PUT: 'text-put',
  PATCH: 'text-patch',
  DELETE: 'text-delete',
};

/**
 * The method in its color: GET green, POST blue, PUT amber, PATCH purple, DELETE red, other grey, 'UNKNOWN' if
 * missing.
 */
export function MethodBadge({
  method,
  className,
}: {
  readonly method: string | undefined;
  readonly className?: string;
}) {
  const name = method === undefined || method === '' ? 'UNKNOWN' : method.toUpperCase();
  return (
    <span className={clsx('font-mono text-xs font-semibold tracking-tight', COLORS[name] ?? 'text-other', className)}>
      {name}
    </span>
  );
}
