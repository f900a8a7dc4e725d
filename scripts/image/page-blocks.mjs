/** The shell blocks below one heading of a page. */
export function shellBlocks(page, heading) {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const blocks = [...section.split('\n## ')[0].matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text);
  if (blocks.length === 0) throw new Error(`The page has no commands under "${heading}".`);
  return blocks;
}
