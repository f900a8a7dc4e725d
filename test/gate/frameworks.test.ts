import { beforeAll, describe, expect, it } from 'vitest';
import { checkAgent, FRAMEWORKS, verdictsAlone, type Framework } from './frameworks/check-agents.ts';
import { STYLES } from './frameworks/scenario.ts';

// `npm run journey:frameworks` runs the same agents with the newest frameworks.
describe('an agent whose tools throw, fail and loop', () => {
  let expected: string[];
  beforeAll(async () => void (expected = await verdictsAlone()));

  it('is judged as it should be without any framework', () => {
    const count = (start: string) => expected.filter((line) => line.startsWith(start)).length;
    expect(count('tool.failed fetch_page TOOL_THREW timeout')).toBe(13);
    expect(count('tool.failed save TOOL_FAILED upstream_5xx 507')).toBe(13);
    expect(count('tool.blocked read_secret HOOK_BLOCKED blocked')).toBe(1);
    expect(count('tool.completed deploy')).toBe(1);
    expect(count('tool.blocked deploy APPROVAL_DENIED')).toBe(1);
    expect(count('tool.completed status')).toBe(20);
    expect(count('tool.blocked status LOOP_BLOCKED')).toBe(4);
    expect(count('tool.completed search')).toBe(4);
    expect(count('loop.warned')).toBeGreaterThanOrEqual(3);
  });

  describe.each(Object.keys(FRAMEWORKS) as Framework[])('in %s', (framework) => {
    it.each(STYLES)('runs to its end with the same verdicts, guarded by %s', async (style) => {
      const { verdicts, problems } = await checkAgent(framework, style);
      expect(problems).toStrictEqual([]);
      expect(verdicts).toStrictEqual(expected);
    });
  });
});
