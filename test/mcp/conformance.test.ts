import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { spawnNode } from '../support/process.ts';

const SCRIPT = fileURLToPath(new URL('../../scripts/conformance.mjs', import.meta.url));

it('every required scenario of the MCP conformance suite passes, in both revisions', { timeout: 600_000 }, async () => {
  const suite = await spawnNode(SCRIPT, ['--no-report']);
  const { code } = await suite.exited;
  // A failed scenario, and below it each failed check with its message.
  const failed = suite.stdout.match(/^FAIL.*(?:\n {7}.*)*/gm) ?? [];
  expect(failed).toEqual([]);
  expect(suite.stdout).toMatch(/required ones that do not: 0/);
  expect(suite.stdout.match(/^ok {3}2026-07-28/gm)!.length).toBeGreaterThanOrEqual(37);
  expect(suite.stdout.match(/^ok {3}2025-11-25/gm)!.length).toBeGreaterThanOrEqual(30);
  expect(code).toBe(0);
});
