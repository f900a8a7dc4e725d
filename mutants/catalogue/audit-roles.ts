import type { Mutant } from '../mutant.ts';
import { lua } from './places.ts';

const INSIDERS = 'test/audit/insiders.test.ts';
const FIRST = 'test/redis/audit-first.test.ts';
const DRAIN = 'test/audit/drain.test.ts';

/** Bugs in how the audit resists the holder of a role's Redis password, and in how it goes on after records were lost. */
export const AUDIT_ROLES: readonly Mutant[] = [
  {
    id: 'outcome-before-its-record',
    bug: 'A denial is written to the approval before its record is in the audit.',
    file: lua('decide-approval'),
    find: "  afterwards(settlement, vote)\n  end_parked(settlement, call_id, record, 'denied', detail)",
    replace: "  vote()\n  end_parked(settlement, call_id, record, 'denied', detail)",
    caughtBy: [{ file: FIRST, title: 'nothing is written when its record cannot be' }],
  },
  {
    id: 'question-before-its-record',
    bug: 'A question parks the call before its record is in the audit.',
    file: lua('ask-approval'),
    find: "set_extra(record, 'approval', id)\nlocal records = {}",
    replace:
      "set_extra(record, 'approval', id)\nredis.call('ZADD', approvals_key(lane, 'pending'), expires_at, id)\nlocal records = {}",
    caughtBy: [{ file: FIRST, title: 'nothing is written when its record cannot be' }],
  },
  {
    id: 'drain-trims-by-length',
    bug: 'The drain removes as many elements as it is told, however many went before: a repeated command removes others.',
    file: lua('drain-audit'),
    find: 'local gone = position - facts.removed',
    replace: 'local gone = position',
    caughtBy: [{ file: DRAIN, title: 'removes by position: a repeated command removes nothing twice' }],
  },
  {
    id: 'drain-trims-what-it-has-not-read',
    bug: 'The drain removes elements without looking whether they are still those that the sink has.',
    file: lua('drain-audit'),
    find: "if not element or journal.digest(element) ~= last then return 'CHANGED' end",
    replace: '',
    caughtBy: [{ file: DRAIN, title: 'removes by position: a repeated command removes nothing twice' }],
  },
  {
    id: 'foreign-element-stops-the-drain',
    bug: 'An element that is no record is an error, and the drain of the lane stops at it.',
    file: 'src/stores/redis/journal-codec.ts',
    find: 'const entry = decodeElement(lane, bytes);',
    replace:
      "const entry = decodeElement(lane, bytes);\n  if (entry === undefined) throw new Error('an element is no record');",
    caughtBy: [{ file: INSIDERS, title: 'takes garbage for what it is' }],
  },
  {
    id: 'made-up-record-displaces-another',
    bug: 'A record whose number was claimed before is dropped, so that a made-up one takes the place of a genuine one.',
    file: 'src/audit/plan-drain.ts',
    find: '    if (entry === undefined) continue;\n    const { counted: _, ...record } = entry;',
    replace:
      '    if (entry === undefined || entry.counted <= page.drained + entries.length - page.surplus) continue;\n    const { counted: _, ...record } = entry;',
    caughtBy: [{ file: INSIDERS, title: 'keeps every record when one that was made up took its number first' }],
  },
  {
    id: 'foreign-elements-are-not-named',
    bug: 'What a role has appended by hand disappears without a statement.',
    file: 'src/audit/drain-lane.ts',
    find: 'if (plan.found !== undefined) await report(plan.found, page.store);',
    replace: '',
    caughtBy: [{ file: INSIDERS, title: 'takes garbage for what it is' }],
  },
  {
    id: 'gap-covers-more-than-its-range',
    bug: 'The drain goes on behind a gap that ends later than what is missing.',
    file: 'src/audit/drain-lane.ts',
    find: 'from === gap!.from && to <= gap!.to',
    replace: 'from === gap!.from',
    caughtBy: [{ file: INSIDERS, title: 'is not covered by a gap of another range' }],
  },
  {
    id: 'verify-crosses-any-gap',
    bug: 'Verify passes over missing records as soon as some gap begins there.',
    file: 'src/audit/accepted-gaps.ts',
    find: 'return reach + 1 === found ? reach : sequence;',
    replace: 'return reach > sequence ? found - 1 : sequence;',
    caughtBy: [{ file: 'src/audit/accepted-gaps.test.ts', title: 'a gap that ends too early' }],
  },
  {
    id: 'verify-trusts-what-was-handed-over',
    bug: 'Verify does not ask what the lane itself has counted, and misses records that were deleted before the drain.',
    file: 'src/operate/verify-audit.ts',
    find: 'missing: sequence + surplus - drained - waiting',
    replace: 'missing: 0',
    caughtBy: [{ file: INSIDERS, title: 'is noticed by verify also where no drain has looked' }],
  },
  {
    id: 'nonsense-count-stops-settles',
    bug: 'A count that a role has overwritten with text makes every settle fail.',
    file: lua('shared/journal'),
    find: "journal.counted(redis.pcall('HINCRBY', meta_key, 'auditSequence', records))",
    replace: "redis.call('HINCRBY', meta_key, 'auditSequence', records)",
    caughtBy: [{ file: INSIDERS, title: 'counts again when its count was made nonsense' }],
  },
  {
    id: 'upgrade-forgets-the-old-stream',
    bug: 'Records that an earlier release left in its stream are deleted and not moved.',
    file: lua('move-audit'),
    find: 'if number > drained then',
    replace: 'if false then',
    caughtBy: [{ file: 'test/deploy/upgrade.test.ts', title: 'loses no record that waited in the stream' }],
  },
  {
    id: 'absurd-count-is-believed',
    bug: 'A count that a role has set close to the largest number is taken for the number of records.',
    file: lua('shared/journal'),
    find: 'return count and count <= expected + journal.MAX_LOSS and count or expected',
    replace: 'return count or expected',
    caughtBy: [{ file: INSIDERS, title: 'counts again when its count was made nonsense' }],
  },
  {
    id: 'nested-identity-stops-the-drain',
    bug: 'An identity that is nested deeper than a record can be is taken for one, and the drain stops at it.',
    file: 'src/stores/redis/journal-codec.ts',
    find: 'return [...named, channel, space, platform, ...delegators].every(hasRoom);',
    replace: 'return named.every(hasRoom);',
    caughtBy: [{ file: INSIDERS, title: 'takes what no record can be made of for garbage' }],
  },
  {
    id: 'adopt-counts-garbage',
    bug: 'Adopting a store counts garbage as records, and the drain misses them.',
    file: 'src/stores/redis/audit-store.ts',
    find: 'records += page.elements.filter(({ entry }) => entry !== undefined).length;',
    replace: 'records += page.elements.length;',
    caughtBy: [{ file: INSIDERS, title: 'counts the records that wait, and none of the garbage' }],
  },
  {
    id: 'gap-of-a-stranger-hides-later-ones',
    bug: 'A gap that cannot be checked makes every later accept-gap ineffective.',
    file: 'src/audit/drain-statements.ts',
    find: "if (parseNumbered(signed.text)?.kind === 'gap') check(signed, keys);",
    replace:
      "if (parseNumbered(signed.text)?.kind === 'gap') check(signed, keys);\n      if (ofUnknownKeys.length > 0) break;",
    caughtBy: [{ file: INSIDERS, title: 'is covered by a gap that stands behind one which cannot be checked' }],
  },
  {
    id: 'tail-looks-at-the-clock-once',
    bug: 'A day after its start, audit tail --follow takes every new record for one of the future.',
    file: 'src/cli/filter-until-now.ts',
    find: 'return { to: now + AUDIT_LIMITS.aheadMs, ...given };',
    replace: 'return Object.assign(given, { to: given.to ?? now + AUDIT_LIMITS.aheadMs });',
    caughtBy: [{ file: 'src/cli/filter-until-now.test.ts', title: 'at every look anew' }],
  },
  {
    id: 'gateway-asks-its-own-clock',
    bug: 'A gateway whose clock is behind takes the newest records of the audit for records of the future.',
    file: 'src/gateway/api/audit.ts',
    find: '(await plane.store.now()) + AUDIT_LIMITS.aheadMs',
    replace: 'Date.now() + AUDIT_LIMITS.aheadMs',
    caughtBy: [{ file: 'test/gateway/audit-clock.test.ts', title: 'whose clock is behind shows the newest records' }],
  },
];
