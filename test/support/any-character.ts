import fc from 'fast-check';

const SURROGATES_AT = 0xd800;
const SURROGATES = 0x800;

/** Any Unicode character, as the unit of a string. The library's own unit `binary` first lists all of them, which takes seconds. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES })
  .map((number) => String.fromCodePoint(number < SURROGATES_AT ? number : number + SURROGATES));
