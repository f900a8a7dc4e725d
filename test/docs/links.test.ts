import { existsSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OPTION_ROWS } from '../../src/config/option-rows.ts';
import { ERRORS } from '../../src/domain/errors/errors.ts';
import { anchors, inlineCode, links, readPages, TOP } from './pages.ts';

const pages = readPages();
const pageAt = new Map(pages.map((page) => [page.path, page]));

/** How a page of the package links to what only the repository has, such as pictures. */
const OWN =
  /^https:\/\/(?:raw\.githubusercontent\.com\/sallyport\/sallyport\/main|github\.com\/sallyport\/sallyport\/(?:blob|tree)\/main)\/([^#]+)/;

/** Why a link leads nowhere; undefined when it leads somewhere. */
function problemOf(from: string, target: string): string | undefined {
  const own = OWN.exec(target)?.[1];
  if (own !== undefined) return existsSync(join(TOP, own)) ? undefined : `${own} does not exist`;
  if (/^https?:\/\//.test(target)) return undefined;
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? from : normalize(join(dirname(from), file));
  if (path.startsWith('..')) return 'leads out of the repository';
  if (!existsSync(join(TOP, path))) return `${path} does not exist`;
  if (anchor === undefined) return undefined;
  const page = pageAt.get(path);
  if (page === undefined) return `${path} has no anchors`;
  return anchors(page).includes(anchor) ? undefined : `${path} has no heading for #${anchor}`;
}

describe('the pages', () => {
  it('link only to files and headings that exist', () => {
    const found = pages.flatMap((page) => links(page).map((link) => ({ ...link, from: page.path })));
    const broken = found.flatMap(({ place, target, from }) => {
      const problem = problemOf(from, target);
      return problem === undefined ? [] : [`${place}: ${target}: ${problem}`];
    });
    expect(broken).toStrictEqual([]);
    expect(found.length).toBeGreaterThan(30);
  });

  it('name only files and folders that exist', () => {
    const named = pages
      .flatMap(inlineCode)
      .filter(({ code }) => /^(src|test|examples|docs|scripts)\/[\w./-]*$/.test(code));
    const missing = named.filter(({ code }) => !existsSync(join(TOP, code)));
    expect(missing).toStrictEqual([]);
    const wrongKind = named.filter(({ code }) => code.endsWith('/') && !statSync(join(TOP, code)).isDirectory());
    expect(wrongKind).toStrictEqual([]);
    expect(named.length).toBeGreaterThan(30);
  });

  it('name only error codes that exist', () => {
    const places = ['CALL_ID', 'SESSION_ID', 'XDG_RUNTIME_DIR', 'NODE_OPTIONS', 'NODE_COMPILE_CACHE'];
    const codes = pages
      .flatMap(inlineCode)
      .filter(
        ({ code }) => /^[A-Z]+(_[A-Z]+)+$/.test(code) && !code.startsWith('SALLYPORT_') && !places.includes(code),
      );
    expect(codes.filter(({ code }) => !Object.hasOwn(ERRORS, code))).toStrictEqual([]);
    expect(codes.length).toBeGreaterThan(15);
  });

  it('name only options that exist', () => {
    const options = pages
      .flatMap(inlineCode)
      .filter(({ code }) => /^(worker|redis|admission|log)\.[A-Za-z.]+(: \S+)?$/.test(code))
      .map(({ place, code }) => ({ place, option: code.split(':')[0]! }));
    const unknown = options.filter(
      ({ option }) => !OPTION_ROWS.some(({ path }) => path === option || path.startsWith(`${option}.`)),
    );
    expect(unknown).toStrictEqual([]);
    expect(options.length).toBeGreaterThan(10);
  });
});
