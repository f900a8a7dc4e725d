import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { METRICS } from '../../src/observe/metrics/metric-table.ts';
import { planeFolder, type PlaneFolder } from '../cli/plane-folder.ts';
import { startCollector, type OtlpCollector } from '../support/otlp-collector.ts';
import { eventually } from '../support/process.ts';
import { scrape } from '../support/scrape.ts';
import type { WatchedProcess } from '../support/watched-process.ts';

/** The names in the first column of the tables on the page. */
function documented(): string[] {
  const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  return [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name]) => name!).sort();
}

describe('telemetry of sallyport dev', () => {
  let collector: OtlpCollector;
  let folder: PlaneFolder;
  beforeEach(async () => {
    collector = await startCollector();
    folder = planeFolder();
  });
  afterEach(async () => {
    folder.remove();
    await collector.stop();
  });

  async function startDev(): Promise<{ dev: WatchedProcess; healthUrl: string }> {
    const dev = await folder.start('dev', [], { NO_COLOR: '1' });
    return { dev, healthUrl: /health\s+(http:\/\/\S+)\/readyz/.exec(dev.stdout)![1]! };
  }

  function configure(telemetry: object): void {
    writeFileSync(folder.file('sallyport.json'), JSON.stringify({ telemetry }));
  }

  it('serves what docs/metrics.md says, and nothing else', async () => {
    configure({ metrics: { enabled: true } });
    const { dev, healthUrl } = await startDev();
    await folder.call('basic.echo', { text: 'x' });
    const metrics = await eventually(async () => {
      const now = await scrape(healthUrl);
      return now.value('sallyport_calls_total', { tool: 'basic.echo', outcome: 'ok' }) === 1 ? now : undefined;
    });
    expect([...metrics.names].sort()).toStrictEqual(documented());
    expect(documented()).toStrictEqual(Object.keys(METRICS).sort());
    expect(metrics.value('sallyport_store_up')).toBe(1);
    await dev.stop();
  });

  it('sends traces with the headers of a file, and ends in good time without a collector', async () => {
    writeFileSync(folder.file('headers'), '# of the collector\nauthorization: Bearer from-the-file\n');
    chmodSync(folder.file('headers'), 0o600);
    configure({ traces: { enabled: true, endpoint: new URL(collector.endpoint).origin, headersFile: 'headers' } });
    const { dev } = await startDev();
    await folder.call('basic.echo', { text: 'x' });
    await eventually(() => collector.spans.length >= 6, { what: 'the spans' });
    expect(collector.requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { authorization: 'Bearer from-the-file' },
    });
    await collector.stop();
    await folder.call('basic.echo', { text: 'x' });
    dev.kill('SIGTERM');
    expect((await dev.exited).code).toBe(0);
  });

  it('is not served unless it is switched on, and /metrics says so on both ports', async () => {
    const { dev, healthUrl } = await startDev();
    const httpUrl = /(http:\/\/\S+)\/mcp/.exec(dev.stdout)![1]!;
    await folder.cli('tokens', 'create', 'scraper', '--scope', 'operator', '--out', 'scraper.token');
    const authorization = `Bearer ${readFileSync(folder.file('scraper.token'), 'utf8').trim()}`;
    for (const [url, headers] of [
      [healthUrl, {}],
      [httpUrl, { authorization }],
    ] as const) {
      const answer = await fetch(`${url}/metrics`, { headers });
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: 'METRICS_OFF' });
    }
    await dev.stop();
  });

  it.each([
    ['a file that others can read', 0o644, 'authorization: Bearer x', 77],
    ['a line that is no header', 0o600, 'authorization Bearer secret-word', 78],
  ])('refuses headers in %s, without showing them', async (_what, mode, line, code) => {
    writeFileSync(folder.file('headers'), line);
    chmodSync(folder.file('headers'), mode);
    configure({ traces: { enabled: true, headersFile: 'headers' } });
    const refused = await folder.cli('dev', '--modules', folder.modules);
    expect(refused.code).toBe(code);
    expect(refused.stdout + refused.stderr).not.toMatch(/secret-word|Bearer x/);
  });

  it('refuses headers that would go out in clear', async () => {
    configure({ traces: { enabled: true, endpoint: 'http://collector.internal:4318', headersFile: 'headers' } });
    const refused = await folder.cli('dev', '--modules', folder.modules);
    expect(refused).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('needs an https:// endpoint') as string,
    });
  });
});
