/** Parts of small plots that are readable on a light and on a dark page. They use no library, no script and no font of their own. */
export const WIDTH = 640;

const STYLE = `
  .ground { fill: #ffffff; } .text { fill: #1f2328; } .soft { fill: #59636e; } .line { stroke: #d1d9e0; } .mark { stroke: #59636e; }
  .band { fill: #59636e; opacity: 0.12; }
  .own { fill: #0969da; } .other { fill: #8c959f; }
  .s0 { stroke: #0969da; fill: #0969da; } .s1 { stroke: #bc4c00; fill: #bc4c00; } .s2 { stroke: #1a7f37; fill: #1a7f37; } .s3 { stroke: #8250df; fill: #8250df; }
  text { font: 12px system-ui, sans-serif; } .title { font-size: 14px; font-weight: 600; }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; } .text { fill: #f0f6fc; } .soft { fill: #9198a1; } .line { stroke: #3d444d; } .mark { stroke: #9198a1; }
    .band { fill: #9198a1; }
    .own { fill: #4493f8; } .other { fill: #656c76; }
    .s0 { stroke: #4493f8; fill: #4493f8; } .s1 { stroke: #f0883e; fill: #f0883e; } .s2 { stroke: #3fb950; fill: #3fb950; } .s3 { stroke: #ab7df8; fill: #ab7df8; }
  }`;

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** `said` describes the plot in words, for readers who cannot see it. */
export function drawing(title: string, said: string, height: number, parts: readonly string[]): string {
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${escapeText(title)}</title>`,
    `<desc>${escapeText(said)}</desc>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}" rx="6"/>`,
    text(16, 26, title, 'text title'),
    ...parts,
    '</svg>',
  ].join('\n')}\n`;
}

export function text(x: number, y: number, content: string, kind = 'text', anchor = 'start'): string {
  return `<text class="${kind}" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escapeText(content)}</text>`;
}

export function line(x1: number, y1: number, x2: number, y2: number, kind = 'line', more = ''): string {
  return `<line class="${kind}" x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"${more}/>`;
}

export const round = (value: number): number => Math.round(value * 10) / 10;
