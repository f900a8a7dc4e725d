import type { Mutant } from '../mutant.ts';

const STATEMENTS_TEST = 'test/audit/statements.test.ts';
const INDEX_TEST = 'test/audit/index-columns.test.ts';

/** Bugs against the chain of signed statements: the trail cannot be shortened or set back. */
export const STATEMENTS: readonly Mutant[] = [
  {
    id: 'statement-numbers-are-not-checked',
    bug: 'A number that is missing among the signed statements is not noticed.',
    file: 'src/audit/verify-statements.ts',
    find: 'const isNext = number === before + 1;',
    replace: 'const isNext = number > before;',
    caughtBy: [{ file: STATEMENTS_TEST, title: 'are found wanting whatever was done to them' }],
  },
  {
    id: 'statements-are-not-chained',
    bug: 'A signed statement need not continue the one before it.',
    file: 'src/audit/verify-statements.ts',
    find: 'if (previous !== hash) {',
    replace: 'if (previous !== hash && number < 0) {',
    caughtBy: [{ file: STATEMENTS_TEST, title: 'of a release without numbers are covered by the first one' }],
  },
  {
    id: 'verify-ignores-a-mark-ahead',
    bug: 'Verify passes a trail that ends before the statement which the folder of the keys knows.',
    file: 'src/audit/verify-statements.ts',
    find: 'if (found === mark.hash || (found === undefined && isDropped(statements, mark))) continue;',
    replace: 'if (found === mark.hash || found === undefined) continue;',
    caughtBy: [{ file: STATEMENTS_TEST, title: 'are found wanting whatever was done to them' }],
  },
  {
    id: 'signer-ignores-a-mark-ahead',
    bug: 'A trail that was set back is signed further, which makes the loss look whole.',
    file: 'src/audit/statement-marks.ts',
    find: 'if (mark.number > lastNumber) return describeAhead(lastNumber, mark);',
    replace: 'if (mark.number > lastNumber) return undefined;',
    caughtBy: [{ file: STATEMENTS_TEST, title: 'are not signed any further on a trail that was set back' }],
  },
  {
    id: 'cut-drops-statements-silently',
    bug: 'Retention deletes signed statements, and the signed cut does not say so.',
    file: 'src/audit/retain-trail.ts',
    find: '...(dropped === undefined ? {} : { dropped }) };',
    replace: '...(dropped === undefined || at > 0 ? {} : { dropped }) };',
    caughtBy: [{ file: STATEMENTS_TEST, title: 'are dropped only with a signature that says how far' }],
  },
  {
    id: 'unsigned-records-pass',
    bug: 'Records that nothing has signed for a long time are in order.',
    file: 'src/audit/find-unsigned.ts',
    find: 'const loose = lanes.find(({ unsignedSince = now }) => now - unsignedSince > maxMs);',
    replace: 'const loose = lanes.find(({ unsignedSince = now }) => now - unsignedSince > maxMs * 1e9);',
    caughtBy: [{ file: STATEMENTS_TEST, title: 'have to be there in time' }],
  },
  {
    id: 'statements-are-added-unseen',
    bug: 'A statement is added although another one was added since its signer looked.',
    file: 'src/stores/sqlite-audit/write-trail.ts',
    find: 'if (last !== after) return false;',
    replace: 'if (last < after) return false;',
    caughtBy: [{ file: STATEMENTS_TEST, title: 'of several signers at once are one chain' }],
  },
  {
    id: 'verify-ignores-the-index',
    bug: 'Verify does not compare the columns that a record is found by with the record.',
    file: 'src/audit/verify-trail.ts',
    find: 'if (chained.wrongColumn !== undefined) return',
    replace: "if (chained.wrongColumn === 'none') return",
    caughtBy: [{ file: INDEX_TEST, title: 'are compared with the record by verify, which names it' }],
  },
  {
    id: 'query-believes-the-index',
    bug: 'A query shows a record that its columns give, whatever call its own text is about.',
    file: 'src/wire/record-index.ts',
    find: 'return wrongColumn === undefined || matchesFilter(record, filter);',
    replace: 'return wrongColumn === undefined || record.version === 1 || matchesFilter(record, filter);',
    caughtBy: [{ file: INDEX_TEST, title: 'make no query show the records of another call or time' }],
  },
  {
    id: 'open-believes-the-index',
    bug: 'Open takes the start that the index calls the last one, although that index was changed.',
    file: 'src/audit/open-arguments.ts',
    find: 'if (strays.length > 0 || records.some(({ wrongColumn }) => wrongColumn !== undefined)) {',
    replace: 'if (strays.length > 0) {',
    caughtBy: [{ file: INDEX_TEST, title: 'never make open take another start for the last one' }],
  },
  {
    id: 'verify-skips-what-stands-before-the-chain',
    bug: 'Verify does not look at rows with a number below 1.',
    file: 'src/audit/verify-trail.ts',
    find: 'Number.MIN_SAFE_INTEGER',
    replace: '0',
    caughtBy: [{ file: INDEX_TEST, title: 'cannot bring in a record that stands before the chain' }],
  },
  {
    id: 'store-mark-goes-back',
    bug: 'The mark of the last signed statement in Redis takes a lower number.',
    file: 'src/stores/redis/functions/note-statement.lua',
    find: "if known and known >= tonumber(number) then return 'OLDER' end",
    replace: "if known and known == tonumber(number) then return 'OLDER' end",
    caughtBy: [{ file: 'test/contract/redis.test.ts', title: 'the mark of the last signed statement moves forward' }],
  },
];
