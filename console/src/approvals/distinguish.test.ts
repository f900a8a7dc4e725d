import { describe, expect, test } from 'vitest';
import type { ListedApprovalView } from '../api-types.ts';
import { matchesQuestion, distinguish } from './distinguish.ts';

const asked = (id: string, args: object | string): ListedApprovalView =>
  ({
    id,
    callId: `0.AAAAAAAAAAAA.call-${id}`,
    tool: 'mail.send',
    agent: 'support',
    subject: 'lena',
    title: 'Send a mail',
    arguments: { shown: typeof args === 'string' ? args : JSON.stringify(args) },
  }) as unknown as ListedApprovalView;

describe('a row of questions', () => {
  test('begins with the arguments in which questions of one tool differ', () => {
    const rows = distinguish([
      asked('1', { body: 'Hel\nlo there', subject: 'Offer', to: 'a@example.com' }),
      asked('2', { body: 'Hel\nlo there', subject: 'Offer', to: 'b@example.com' }),
    ]);
    expect(rows.get('1')).toBe('to: a@example.com, subject: Offer, body: Hel lo there');
    expect(rows.get('2')).toBe('to: b@example.com, subject: Offer, body: Hel lo there');
  });

  test('shows the beginning of arguments that are cut, on one line', () => {
    expect(distinguish([asked('1', '{\n  "body": "a long')]).get('1')).toBe('{ "body": "a long');
  });

  test('is found by an id, by its names and by its arguments', () => {
    const question = asked('k3xQ9Z', { to: 'Ada@example.com' });
    for (const text of ['', 'k3x', 'call-k3', 'MAIL', 'lena', 'ada@'])
      expect(matchesQuestion(question, text)).toBe(true);
    expect(matchesQuestion(question, 'omar')).toBe(false);
  });
});
