import { expect, it } from 'vitest';
import type { Approval } from '../domain/policy/approval.ts';
import { renderQuestion } from '../gate/approvals/render-question.ts';
import { toShownJson } from './show-approval.ts';

it('an approval for a program holds nothing that a masked value could be tried against', () => {
  const question = {
    title: '',
    description: '',
    reasons: [],
    askers: [],
    identity: {},
    arguments: '{"pin":"4711"}',
    masks: [{ of: 'arguments', pointer: '/pin' }],
    changedBy: [{ hook: 'a.b', digest: 'digest of the arguments', at: ['/pin'] }],
    salt: 'the salt',
  } as unknown as Approval['question'];
  const text = JSON.stringify(toShownJson({ approval: { question } as Approval, shown: renderQuestion(question) }));
  expect(text).toContain('"hook":"a.b"');
  for (const hidden of ['4711', 'the salt', 'digest of the arguments']) expect(text).not.toContain(hidden);
});
