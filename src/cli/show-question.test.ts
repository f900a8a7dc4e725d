import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ApprovalQuestion } from '../domain/policy/approval.ts';
import { decideCommands, QuestionBoard } from './show-question.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('QuestionBoard shows five questions in ten seconds, then counts the rest, then shows again', () => {
  const [shown, more]: [unknown[], number[]] = [[], []];
  const board = new QuestionBoard(
    (asked) => shown.push(asked),
    (count) => more.push(count),
  );
  const ask = (): void => board.requested({ question: {} as ApprovalQuestion, expiresAt: 0 });
  for (let count = 0; count < 1000; count += 1) ask();
  expect([shown.length, more]).toStrictEqual([5, []]);
  vi.advanceTimersByTime(10_000);
  expect([shown.length, more]).toStrictEqual([5, [995]]);
  ask();
  vi.advanceTimersByTime(10_000);
  expect([shown.length, more]).toStrictEqual([6, [995]]);
});

it('decideCommands begins with reveal where something is masked, and has a command for each decision', () => {
  const question = { id: 'q1', decisions: ['allow-once', 'deny'], masks: [] } as never;
  const masked = { id: 'q1', decisions: ['deny'], masks: [{ of: 'arguments', pointer: '/a' }] } as never;
  expect(decideCommands('sallyport', question)).toStrictEqual([
    'sallyport approvals show q1',
    'sallyport approvals decide q1 allow-once',
    'sallyport approvals decide q1 deny',
  ]);
  expect(decideCommands('sallyport', masked)[0]).toBe('sallyport approvals reveal q1');
});
