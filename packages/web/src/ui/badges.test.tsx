import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { MethodBadge } from './badges.tsx';

test.each([
  ['GET', 'GET', 'text-get'],
  ['post', 'POST', 'text-post'],
  ['PUT', 'PUT', 'text-put'],
  ['PATCH', 'PATCH', 'text-patch'],
  ['DELETE', 'DELETE', 'text-delete'],
  ['OPTIONS', 'OPTIONS', 'text-other'],
  ['', 'UNKNOWN', 'text-other'],
  [undefined, 'UNKNOWN', 'text-other'],
])('the method %s reads %s and is %s', (method, text, colour) => {
  const drawn = renderToStaticMarkup(<MethodBadge method={method} />);
  expect(drawn).toContain(`>${text}<`);
  expect(drawn).toMatch(new RegExp(`\\b${colour}\\b`));
});
