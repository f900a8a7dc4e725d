import { defineHooks } from 'sallyport/gate';

declare function readLimit(agent: string, options: { signal: AbortSignal }): Promise<number>;
declare function masked(text: string): string;
declare const audit: { write(line: object): Promise<void> };

export default defineHooks({
  id: 'answers',
  hooks: [
    // #region rewrite
    {
      id: 'small-pages',
      on: 'before_tool_call',
      tools: ['web.fetch'],
      run: () => ({ patch: { headers: { cookie: null }, maxBytes: 100_000 } }),
    },
    // #endregion
    // #region ask
    {
      id: 'large-payments',
      on: 'before_tool_call',
      tools: ['bank.pay'],
      async run({ arguments: { amount }, identity }, { signal }) {
        const limit = await readLimit(identity.agent, { signal });
        if (Number(amount) <= limit) return undefined;
        return {
          patch: { note: 'approved by a person' },
          requireApproval: { reason: `More than ${limit}.`, severity: 'critical', timeoutMs: 3_600_000 },
        };
      },
    },
    // #endregion
    // #region result
    {
      id: 'no-mail-addresses',
      on: 'tool_result',
      tools: ['crm.*'],
      run: ({ outcome: { content, structured } }) => ({
        content: content.map((block) => ('text' in block ? { ...block, text: masked(block.text) } : block)),
        ...(structured === undefined ? {} : { structured: JSON.parse(masked(JSON.stringify(structured))) }),
      }),
    },
    // #endregion
    // #region after
    {
      id: 'audit',
      on: 'after_tool_call',
      effects: ['unsafe'],
      async run({ callId, tool, arguments: ran, outcome, durationMs }) {
        await audit.write({ callId, tool, ran, kind: outcome.kind, executed: outcome.executed, durationMs });
      },
    },
    // #endregion
    // #region resolved
    {
      id: 'decisions',
      on: 'approval_resolved',
      run: ({ approvalId, resolution, by }) => audit.write({ approvalId, resolution, by }),
    },
    // #endregion
  ],
});
