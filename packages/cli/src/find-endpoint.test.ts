import { expect, test } from 'vitest';
import { sampleEndpoint } from '../../../fixtures/sample-endpoint.ts';
import { chooseEndpoint } from './find-endpoint.ts';

const endpoint = (uid: string, name: string | null) =>
  sampleEndpoint({ uid, name, url: `https://hooks.example/h/${uid}` });

const all = [endpoint('AAA', 'one'), endpoint('bbb', 'AAA'), endpoint('ccc', 'two'), endpoint('ddd', 'two')];

test.each([
  ['AAA', 'AAA'],
  ['one', 'AAA'],
  ['https://hooks.example/h/bbb', 'bbb'],
  ['http://127.0.0.1:3000/h/bbb/anything?x=1', 'bbb'],
])('%s is %s', (meant, uid) => expect(chooseEndpoint(all, meant).uid).toBe(uid));

test.each([
  ['aaa', 'None of your endpoints is “aaa”. See: creel endpoints'],
  ['One', 'None of your endpoints is “One”. See: creel endpoints'],
  ['https://hooks.example/h/zzz', 'None of your endpoints is “https://hooks.example/h/zzz”. See: creel endpoints'],
  ['two', '2 endpoints are called “two”. Use a uid: ccc, ddd'],
])('%s: %s', (meant, sentence) => expect(() => chooseEndpoint(all, meant)).toThrow(sentence));
