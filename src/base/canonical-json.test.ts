import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

/** Digests and signatures that are already stored are made from this text: no release of the library may change a character of it. */
const STORED = [
  {
    value: {
      numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0],
      string: '€$\u000f\nA\'B"\\\\"/',
      literals: [null, true, false],
    },
    text: String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  },
  {
    value: { '€': 1, '\r': 2, '\ufb33': 3, '1': 4, '😀': 5, '\u0080': 6, ö: 7, absent: undefined, list: [undefined] },
    text: '{"\\r":2,"1":4,"list":[null],"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}',
  },
];

test.each(STORED)('the canonical text of a value stays what stored digests were made from', ({ value, text }) => {
  expect(canonicalJson(value)).toBe(text);
});

test.each([
  { value: Number.NaN, reason: 'NaN' },
  { value: Infinity, reason: 'Infinity' },
  { value: ['\ud800'], reason: 'Lone surrogate' },
  { value: { '\udc00': 1 }, reason: 'Lone surrogate' },
  { value: 1n, reason: 'BigInt' },
  { value: undefined, reason: 'not a JSON value' },
])('a value without a JSON form is refused: $reason', ({ value, reason }) => {
  expect(() => canonicalJson(value)).toThrow(reason);
});
