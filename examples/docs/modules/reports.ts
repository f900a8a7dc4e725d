// #region module
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineModule, denied, structured, text, ToolFailure } from 'sallyport/tool';
import { z } from 'zod';

const name = z.string().regex(/^[a-z0-9-]{1,64}$/);

export default defineModule({
  id: 'reports',
  version: '1.0.0',
  description: 'Reports of the team: write, read and export them.',
  setup: z.object({ folder: z.string().default('.sallyport/reports'), chair: z.string().default('ada') }),
  tools: (tool) => ({
    // #endregion
    // #region effect
    write: tool({
      description: 'Writes a report and replaces an older one of the same name.',
      effect: 'idempotent',
      serial: true,
      input: z.object({ name, text: z.string().max(100_000) }),
      output: z.object({ name, characters: z.int() }),
      async run(report, { setup }) {
        await mkdir(setup.folder, { recursive: true });
        await writeFile(join(setup.folder, `${report.name}.md`), report.text);
        return { name: report.name, characters: report.text.length };
      },
    }),
    // #endregion

    // #region failing
    read: tool({
      description: 'Gives the text of a report.',
      effect: 'read',
      input: z.object({ name }),
      async run(asked, { setup, identity }) {
        if (asked.name.startsWith('board-') && identity.subject !== setup.chair)
          denied('Only the chair reads board reports.');
        const found = await readFile(join(setup.folder, `${asked.name}.md`), 'utf8').catch(() => undefined);
        if (found === undefined) {
          throw new ToolFailure(`There is no report "${asked.name}". Write it first.`, { code: 'REPORT_NOT_FOUND' });
        }
        return text(found);
      },
    }),
    // #endregion

    // #region progress
    check: tool({
      description: 'Reads reports one by one and counts their words.',
      effect: 'read',
      limits: { timeoutMs: 120_000, waitMs: 5000 },
      input: z.object({ names: z.array(name).min(1).max(100) }),
      async run({ names }, ctx) {
        let words = 0;
        for (const [done, each] of names.entries()) {
          ctx.signal.throwIfAborted();
          ctx.progress({ done, total: names.length, message: each });
          const found = await readFile(join(ctx.setup.folder, `${each}.md`), { encoding: 'utf8', signal: ctx.signal });
          words += found.split(/\s+/).length;
        }
        ctx.log.info('counted', { reports: names.length });
        return { words };
      },
    }),
    // #endregion

    // #region write-backs
    export: tool({
      description: 'Hands a report over as a file.',
      effect: 'read',
      input: z.object({ name }),
      async run(asked, ctx) {
        const bytes = await readFile(join(ctx.setup.folder, `${asked.name}.md`));
        ctx.sendFile({ name: `${asked.name}.md`, mediaType: 'text/markdown', bytes });
        ctx.sendMessage({ format: 'card', body: { title: asked.name, bytes: bytes.byteLength } });
        ctx.offerTool({ tool: 'reports.read', description: 'Read the report that was just exported.' });
        return [text(`Here is ${asked.name}.`), structured({ bytes: bytes.byteLength })];
      },
    }),
    // #endregion

    // #region nested
    stamp: tool({
      description: 'Writes a report that holds only the current time.',
      effect: 'idempotent',
      input: z.object({ name }),
      async run(asked, ctx) {
        const time = await ctx.call('clock.now', {}, { key: 'time' });
        if (time.kind !== 'ok') throw new ToolFailure(`The clock did not answer: ${time.error?.message}`);
        const written = await ctx.call('reports.write', { name: asked.name, text: JSON.stringify(time.structured) });
        return { written: written.kind === 'ok' };
      },
    }),
    // #endregion
  }),
});
