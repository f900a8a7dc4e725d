import type { Mutant } from '../mutant.ts';
import { EMBEDDED, lua, REDIS, transition } from './places.ts';

const PLANE_TEST = 'test/plane/normalise.test.ts';
const INPUT_TEST = 'test/plane/input.test.ts';
const RESOURCES_TEST = 'test/plane/resources.test.ts';
const COUNTS_LOST = 'reclaim counts each lost worker once';
const RUN_TOOL = 'src/runners/run-tool.ts';

/** Bugs against the rows of requirements/rows-bytes.ts: the rules judge the bytes that run. */
export const BYTES: readonly Mutant[] = [
  {
    id: 'transforms-run-unjudged',
    bug: 'A schema that makes something else of the arguments than what the rules judged is not noticed.',
    file: RUN_TOOL,
    find: 'if (changes.length > 0) return',
    replace: 'if (changes.length > 99) return',
    caughtBy: [{ file: PLANE_TEST, title: 'that trims and lowers does not carry " PROD" past them' }],
  },
  {
    id: 'normalised-arguments-are-parsed-again',
    bug: 'The runner parses the arguments of a normalising tool a second time, after the rules judged them.',
    file: RUN_TOOL,
    find: "return step === 'parsed' ? { kind: 'parsed', value: copy } : parseWith(input, copy);",
    replace: 'return parseWith(input, copy);',
    caughtBy: [{ file: PLANE_TEST, title: 'arguments are parsed once, also over a question' }],
  },
  {
    id: 'a-question-is-parsed-again',
    bug: 'What a person allowed is normalised again before it runs.',
    file: 'src/stages/gate/resume.ts',
    find: 'if (editedArguments === undefined) return',
    replace: 'if (editedArguments === undefined && allowed.length < 0) return',
    caughtBy: [{ file: PLANE_TEST, title: 'arguments are parsed once, also over a question' }],
  },
  {
    id: 'rules-do-not-see-defaults',
    bug: 'Defaults of the published schema are not filled in before the rules.',
    file: 'src/gate/judged-arguments.ts',
    find: 'const filled = fillDefaults?.(given) ?? given;',
    replace: 'const filled = fillDefaults === undefined ? given : given;',
    caughtBy: [{ file: PLANE_TEST, title: 'defaults of the published schema are filled in before them' }],
  },
  {
    id: 'rewrites-are-not-normalised',
    bug: 'What a hook rewrote is judged as the hook wrote it, not as the tool will read it.',
    file: 'src/gate/hooks/run-before-hooks.ts',
    find: 'const { arguments: changed, canonical } = rewritten;',
    replace: 'const { canonical } = written;\n    const changed = JSON.parse(canonical) as JsonObject;',
    caughtBy: [{ file: PLANE_TEST, title: 'what a hook rewrote is normalised again before them' }],
  },
  {
    id: 'edits-run-unseen',
    bug: 'What the schema made of edited arguments runs without a person having seen it.',
    file: 'src/stages/gate/resume.ts',
    find: 'const isSeen = canonical === allowed;',
    replace: 'const isSeen = canonical.length > 0;',
    caughtBy: [{ file: PLANE_TEST, title: 'asked about again when that changed them' }],
  },
  {
    id: 'edits-that-no-rule-asks-about-run-unseen',
    bug: 'What the schema made of edited arguments runs unseen when no rule asks about the result.',
    file: 'src/stages/gate/resume.ts',
    find: 'if (!isSeen || !asks.every',
    replace: 'if ((!isSeen && asks.length > 0) || !asks.every',
    caughtBy: [{ file: PLANE_TEST, title: 'when a default was filled in, also if no rule asks about them' }],
  },
  {
    id: 'a-question-asked-again-forgets-its-approvers',
    bug: 'Edited arguments are asked about again without the approvers, the severity and the decisions of the question before.',
    file: 'src/gate/approvals/merge-asks.ts',
    find: 'if (first === undefined) return saidBefore(before);',
    replace: 'if (first === undefined) return { ...saidBefore(before), approvers: [[...defaults.approvers]] };',
    caughtBy: [{ file: PLANE_TEST, title: 'when a default was filled in, also if no rule asks about them' }],
  },
  {
    id: 'questions-count-as-lost-workers',
    bug: 'On Redis each question about a call, and each drain, counts as a worker that was lost with it.',
    file: 'src/stores/redis/call-codec.ts',
    find: "lostDeliveries: Number(more.before?.[4] ?? '0') + deliveries - 1,",
    replace: 'lostDeliveries: fence - 1,',
    caughtBy: [
      { file: REDIS, title: COUNTS_LOST },
      { file: PLANE_TEST, title: 'edited three times' },
    ],
  },
  {
    id: 'embedded-questions-count-as-lost-workers',
    bug: 'In the embedded store each question about a call, and each drain, counts as a worker that was lost with it.',
    file: transition('deliver-call'),
    find: 'lostDeliveries: row.deliveries - 1,',
    replace: 'lostDeliveries: fence - 1,',
    caughtBy: [
      { file: EMBEDDED, title: COUNTS_LOST },
      { file: PLANE_TEST, title: 'edited three times' },
    ],
  },
  {
    id: 'a-drain-forgets-lost-workers',
    bug: 'On Redis a call that was given back in good order forgets the workers that were lost with it before.',
    file: lua('shared/queue'),
    find: 'if lost > 0 then',
    replace: 'if lost > 1000 then',
    caughtBy: [{ file: REDIS, title: COUNTS_LOST }],
  },
  {
    id: 'embedded-drain-forgets-lost-workers',
    bug: 'In the embedded store a call that was given back in good order forgets the workers that were lost with it before.',
    file: transition('call-row'),
    find: 'base = base + 1, deliveries = deliveries - 1,',
    replace: 'base = base + deliveries, deliveries = 0,',
    caughtBy: [{ file: EMBEDDED, title: COUNTS_LOST }],
  },
  {
    id: 'input-defaults-in-output-values',
    bug: 'The library gate fills the defaults of what was sent into what a schema made of it, and a rule passes on such a default.',
    file: 'src/compose/read-tool-schema.ts',
    find: "return isOurs || isSameShape(sent, deriveJsonSchema(schema, 'output')) ? sent : undefined;",
    replace: "return isOurs || isSameShape(sent, deriveJsonSchema(schema, 'input')) ? sent : undefined;",
    caughtBy: [
      {
        file: 'src/gate/wrap/gate-rules.test.ts',
        title: 'are not passed by a default of what a schema of zod was sent',
      },
    ],
  },
  {
    id: 'input-defaults-behind-a-parser',
    bug: 'The library gate fills in defaults although the tool has code that reads its arguments.',
    file: 'src/compose/read-tool-schema.ts',
    find: 'hasOwnParser(tool) ? undefined',
    replace: 'hasOwnParser({}) ? undefined',
    caughtBy: [
      {
        file: 'src/gate/wrap/gate-rules.test.ts',
        title: 'are not passed by a default of what a helper of Anthropic was sent',
      },
    ],
  },
  {
    id: 'a-cancel-is-blamed-on-the-hook',
    bug: 'A call that is cancelled while the rewrite of a hook is normalised ends as a mistake of the hook.',
    file: 'src/gate/judged-arguments.ts',
    find: "if (judged.kind !== 'ended' || call.claimed.signal.aborted) return",
    replace: "if (judged.kind !== 'ended') return",
    caughtBy: [{ file: 'src/stages/gate/gate.test.ts', title: 'ends as every call that is cancelled' }],
  },
  {
    id: 'branches-are-chosen-before-defaults',
    bug: 'The branch of anyOf is chosen before the defaults beside it are filled in, and a second pass chooses another one.',
    file: 'src/catalog/fill-defaults.ts',
    find: 'let filled = fillOwn(schema, value);',
    replace: 'let filled = value;',
    caughtBy: [
      { file: 'src/catalog/fill-defaults.test.ts', title: 'fills in the branch that fits with the defaults beside it' },
    ],
  },
  {
    id: 'tools-get-live-objects',
    bug: 'A tool gets the object that its schema returned, which can change after it was compared.',
    file: RUN_TOOL,
    find: '!isStandardSchema(input) ? parsed : copyJson(judged);',
    replace: '!isStandardSchema(input) ? parsed : (parsed ?? copyJson(judged));',
    caughtBy: [{ file: PLANE_TEST, title: 'and a tool gets them, not the' }],
  },
  {
    id: 'rules-judge-encoded-uris',
    bug: 'The URI of a resource is judged as it was sent, and read decoded.',
    file: 'src/catalog/read-uri-argument.ts',
    find: "found.kind !== 'read' || found.uri === filled['uri'] ? filled",
    replace: "found.kind !== 'read' || found.uri.length > 0 ? filled",
    caughtBy: [{ file: RESOURCES_TEST, title: 'are judged by the URI that is read, however it was encoded' }],
  },
  {
    id: 'uris-lead-out-of-their-place',
    bug: 'An encoded slash, a NUL or a dot segment reaches the code of a resource.',
    file: 'src/domain/uri-template.ts',
    find: "if (problem !== undefined) return { kind: 'refused', problem };",
    replace: '',
    caughtBy: [{ file: RESOURCES_TEST, title: 'are not read by a URI that leads out of its place' }],
  },
  {
    id: 'states-are-read-loosely',
    bug: 'A state with a name twice or an escaped letter is taken: it reads otherwise than it looks.',
    file: 'src/wire/read-input.ts',
    find: ' || canonicalJson(parsed.value) !== text) return undefined;',
    replace: ') return undefined;',
    caughtBy: [{ file: INPUT_TEST, title: 'is not run with a state that reads otherwise than it looks' }],
  },
  {
    id: 'forms-change-answers',
    bug: 'A tool gets what the schema of its form made of an answer, not what an approver saw.',
    file: 'src/runners/check-response.ts',
    find: "return changes.length > 0 ? { kind: 'changed', changes } : answer({ action, content: asked });",
    replace: "return changes.length > 99 ? { kind: 'changed', changes } : answer({ action, content: parsed.value });",
    caughtBy: [{ file: INPUT_TEST, title: 'does not get an answer that its form made into another one' }],
  },
  {
    id: 'explain-judges-other-bytes',
    bug: 'explain gives a verdict on arguments that a worker would normalise first.',
    file: 'src/domain/explain-call.ts',
    find: 'if (tool.normalises === true) return {};',
    replace: '',
    caughtBy: [
      {
        file: 'src/domain/explain-call.test.ts',
        title: 'claims no verdict on arguments that a worker normalises first',
      },
    ],
  },
  {
    id: 'seals-fit-every-record',
    bug: 'Sealed arguments are not bound to their call, so that those of another call can be put in their place.',
    file: 'src/audit/seal-arguments.ts',
    find: 'Buffer.from(`\\n${callId}\\n${tool}\\n${digest}`)',
    replace: 'Buffer.from(`\\n${callId.slice(0, 0)}\\n${tool}\\n${digest}`)',
    caughtBy: [{ file: 'src/audit/seal-arguments.test.ts', title: 'do not open as those of another record' }],
  },
  {
    id: 'the-sent-arguments-are-sealed',
    bug: 'The audit seals what the caller sent, not what runs.',
    file: 'src/stages/execute/begin.ts',
    find: 'sealer.seal(canonical, {',
    replace: 'sealer.seal(sent.arguments, {',
    caughtBy: [{ file: 'test/plane/sealed.test.ts', title: 'are what an approver made of them' }],
  },
];
