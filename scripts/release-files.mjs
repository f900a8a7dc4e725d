// The files of a release: the archive for npm, the bill of materials, and the checksums of both.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReleaseRefusal } from './release-text.mjs';

const checksumOf = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

/**
 * Packs the tree twice and refuses if the two archives differ: users could then not compare an archive they built with the released
 * one.
 * @returns {{ name: string, path: string }[]} the archive first
 */
export function packRelease(tree, say) {
  const folder = join(tree, 'release');
  const first = pack(tree, join(folder, 'first'));
  const second = pack(tree, join(folder, 'second'));
  if (checksumOf(first.path) !== checksumOf(second.path))
    throw new ReleaseRefusal(`Packing twice gave two different archives: ${first.path} and ${second.path}.`);
  const bill = { name: first.name.replace(/\.tgz$/, '.cdx.json') };
  bill.path = join(folder, bill.name);
  copyFileSync(join(tree, 'dist/sbom.cdx.json'), bill.path);
  const sums = { name: 'SHA256SUMS', path: join(folder, 'SHA256SUMS') };
  const lines = [first, bill].map(({ name, path }) => `${checksumOf(path)}  ${name}`);
  writeFileSync(sums.path, `${lines.join('\n')}\n`);
  say(
    `${first.name}: ${first.files} files, ${kilobytes(first.size)} packed, ${kilobytes(first.unpackedSize)} unpacked`,
  );
  for (const line of lines) say(line);
  return [first, bill, sums];
}

function pack(tree, folder) {
  mkdirSync(folder, { recursive: true });
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const packed = execFileSync('npm', args, { cwd: tree, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const [{ filename, size, unpackedSize, entryCount }] = JSON.parse(packed);
  return { name: filename, path: join(folder, filename), size, unpackedSize, files: entryCount };
}

const kilobytes = (bytes) => `${Math.round(bytes / 1000).toLocaleString('en')} kB`;
