import { formatReportTable, formatTargets, type BenchReport } from '../harness/report.ts';

/** Replaces the text between `<!-- bench:NAME -->` and `<!-- bench:end -->`. Blocks of benches that were not run stay unchanged. */
export function writePage(page: string, benches: readonly BenchReport[], remark: string): string {
  return page.replaceAll(/<!-- bench:(?!end)([\w-]+) -->\n[\s\S]*?<!-- bench:end -->/g, (block, name: string) => {
    const found = benches.find(({ bench }) => bench === name);
    return found === undefined ? block : `<!-- bench:${name} -->\n${blockOf(found, remark)}\n<!-- bench:end -->`;
  });
}

/** Names of markers without an end. `writePage` would leave such a block unchanged without an error. */
export function openMarkers(page: string): string[] {
  const markers = [...page.matchAll(/<!-- bench:([\w-]+) -->/g)].map(([, name]) => name!);
  return markers.filter((name, index) => name !== 'end' && markers[index + 1] !== 'end');
}

function blockOf({ command, tables, ratios, notes }: BenchReport, remark: string): string {
  const shownTables = tables.map((table) => `**${table.title}**\n\n${formatReportTable(table)}`);
  const targets = formatTargets(ratios);
  return [
    `    ${command}`,
    remark,
    ...shownTables,
    ...(targets === undefined ? [] : [`**Targets**\n\n${targets}`]),
    ...(notes.length === 0 ? [] : [notes.map((note) => `- ${note}`).join('\n')]),
  ].join('\n\n');
}
