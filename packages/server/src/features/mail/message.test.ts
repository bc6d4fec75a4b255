import { expect, test } from 'vitest';
import { compose, escapeHtml } from './message.ts';
import { defaultSender } from './service.ts';

test('both forms have the same content; a link is on its own line', () => {
  const message = compose('A subject', ['First', { label: 'Open', url: 'https://creel.example/x?a=1&b=2' }]);
  expect(message.text).toBe('First\n\nhttps://creel.example/x?a=1&b=2\n\n-- \nCreel\n');
  expect(message.html).toContain('>First</p>');
  expect(message.html).toContain('<a href="https://creel.example/x?a=1&amp;b=2">Open</a>');
});

test('nothing becomes a header or markup', () => {
  const message = compose('Hello\r\nBcc: everybody@example.com\u2028X', [
    '<script>alert("x")</script>',
    { label: '<b>', url: `javascript:'"><img>` },
  ]);
  expect(message.subject).toBe('Hello Bcc: everybody@example.com X');
  expect(message.html).not.toMatch(/<script|<img|<b>|\r\nBcc/);
  expect(message.text).toContain('<script>alert("x")</script>');
});

test('every character of HTML is escaped', () => {
  expect(escapeHtml(`<a href="x" title='y'>&amp;</a>`)).toBe(
    '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;',
  );
});

test.each([
  ['https://creel.example', 'Creel <no-reply@creel.example>'],
  ['http://localhost:3000', 'Creel <no-reply@localhost>'],
  ['http://127.0.0.1:3000', 'Creel <no-reply@[127.0.0.1]>'],
  ['http://[::1]:3000', 'Creel <no-reply@[IPv6:::1]>'],
])('without MAIL_FROM, mails from %s are from %s', (publicUrl, sender) => {
  expect(defaultSender(publicUrl)).toBe(sender);
});
