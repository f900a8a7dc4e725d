import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { describe, expect, it } from 'vitest';
import { DIST, walkPackage } from '../support/walk-dist.ts';

const TOP = fileURLToPath(new URL('../../', import.meta.url));
const readJson = (file: string): unknown => JSON.parse(readFileSync(join(TOP, file), 'utf8'));

describe('the bill of materials', () => {
  interface Component {
    readonly purl: string;
    readonly version: string;
    readonly licenses?: readonly unknown[];
    readonly properties: readonly { readonly value: string }[];
  }
  interface LockEntry {
    readonly name?: string;
    readonly version: string;
    readonly dev?: boolean;
  }
  const text = readFileSync(join(DIST, 'sbom.cdx.json'), 'utf8');
  const bill = JSON.parse(text) as { metadata: { component: Component }; components: Component[] };
  const { packages } = readJson('package-lock.json') as { packages: Record<string, LockEntry> };
  const delivered = (how: string): string[] =>
    bill.components.filter(({ properties }) => properties.some(({ value }) => value === how)).map(({ purl }) => purl);
  /** The package URLs of these folders according to the lock file, each version of a package once. */
  const purlsOf = (folders: Iterable<string>): string[] => [
    ...new Set(
      [...folders].map((folder) => {
        const { name = folder.replace(/^.*node_modules\//, ''), version } = packages[folder]!;
        return `pkg:npm/${name.replace('@', '%40')}@${version}`;
      }),
    ),
  ];

  it('is valid CycloneDX', async () => {
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
    await expect(validator.validate(text)).resolves.toBeNull();
    await expect(validator.validate(text.replace('"type": "library"', '"type": "book"'))).resolves.not.toBeNull();
  });

  it('lists the packages whose code the maps of the chunks show, and those of the console', () => {
    const console = ['preact', 'preact-iso', '@preact/signals', '@preact/signals-core', 'uplot'];
    const shown = [...walkPackage().packages, ...console.map((name) => `node_modules/${name}`)];
    expect(delivered('bundled').sort()).toStrictEqual(purlsOf(shown).sort());
    expect(delivered('bundled').length).toBeGreaterThan(30);
  });

  it('lists the packages that npm installs with it', () => {
    const installed = Object.keys(packages).filter((folder) => folder !== '' && packages[folder]!.dev !== true);
    expect(delivered('installed').sort()).toStrictEqual(purlsOf(installed).sort());
  });

  it('leaves zod alone to be both bundled and installed', () => {
    const bundled = delivered('bundled');
    expect(delivered('installed').filter((purl) => bundled.includes(purl))).toStrictEqual(
      purlsOf(['node_modules/zod']),
    );
  });

  it('gives each one a licence, and the text of those that are bundled', () => {
    expect(bill.components.filter(({ licenses = [] }) => licenses.length === 0)).toStrictEqual([]);
    const licenses = readFileSync(join(DIST, 'third-party-licenses.txt'), 'utf8');
    const headings = delivered('bundled').map((purl) =>
      purl
        .replace('pkg:npm/', '')
        .replace('%40', '@')
        .replace(/@([^@]+)$/, ' $1'),
    );
    expect(headings.filter((heading) => !`\n${licenses}`.includes(`\n${heading}\n`))).toStrictEqual([]);
  });

  it('is of this release', () => {
    const { version } = readJson('package.json') as { version: string };
    expect(bill.metadata.component.purl).toBe(`pkg:npm/sallyport@${version}`);
  });
});
