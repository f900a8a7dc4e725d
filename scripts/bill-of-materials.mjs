// Writes dist/sbom.cdx.json and dist/third-party-licenses.txt: the packages whose code is in dist, and those that npm installs next to
// dist. Uses only node: modules until there is something to write.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { CONSOLE_STAMP } from './build-console.mjs';
import { STAMP as LIBRARY_STAMP } from './compile.mjs';
import { BILL_FILES, TOP } from './top.mjs';

const [BILL, LICENSES] = BILL_FILES;
/** How the code of a component reaches a user: inside the files of this package, or installed by npm. Both can be true. */
const DELIVERY = 'sallyport:delivery';

const DIST = join(TOP, 'dist');
const STAMP = join(DIST, '.build', 'bill.json');

/** @returns {Promise<{ kind: 'unchanged' } | { kind: 'built' } | { kind: 'failed', output: string }>} */
export async function writeBillOfMaterials() {
  const bundled = [...packagesIn(LIBRARY_STAMP), ...packagesIn(CONSOLE_STAMP)];
  const wanted = hashOfInputs(bundled);
  const isWritten = BILL_FILES.every((file) => existsSync(join(DIST, file)));
  if (isWritten && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return { kind: 'unchanged' };
  rmSync(STAMP, { force: true });
  try {
    writeFileSync(join(DIST, LICENSES), licensesOf(bundled));
    writeFileSync(join(DIST, BILL), await createBill(bundled));
  } catch (error) {
    return { kind: 'failed', output: error instanceof Error ? error.message : String(error) };
  }
  writeFileSync(STAMP, wanted);
  return { kind: 'built' };
}

/** The packages that a build stamp lists. Without a stamp there are none: a container is built without the console. */
function packagesIn(stamp) {
  return existsSync(stamp) ? JSON.parse(readFileSync(stamp, 'utf8')).packages : [];
}

function hashOfInputs(bundled) {
  const hash = createHash('sha256').update(JSON.stringify(bundled));
  for (const file of ['package.json', 'package-lock.json', 'scripts/bill-of-materials.mjs'])
    hash.update(readFileSync(join(TOP, file)));
  return hash.digest('hex');
}

/** Creates the bill without a time and a serial number, so that the same sources give the same bytes. */
async function createBill(bundled) {
  const { Enums, Models, Serialize, Spec } = await import('@cyclonedx/cyclonedx-library');
  const own = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8'));
  const { packages } = JSON.parse(readFileSync(join(TOP, 'package-lock.json'), 'utf8'));
  const installed = Object.keys(packages).filter((folder) => folder !== '' && !packages[folder].dev);

  const bill = new Models.Bom();
  const root = componentOf(own.name, own, { Enums, Models });
  root.type = Enums.ComponentType.Application;
  bill.metadata.component = root;
  bill.metadata.lifecycles.add(Enums.LifecyclePhase.Build);

  /** Components by package URL (name and version), because two folders can hold copies of the same release. */
  const components = new Map();
  const addComponent = (folder, delivery) => {
    const entry = packages[folder];
    if (entry === undefined) throw new Error(`${folder} was bundled, and is not in package-lock.json.`);
    const made = componentOf(entry.name ?? nameOf(folder), entry, { Enums, Models });
    const component = components.get(made.purl) ?? made;
    components.set(made.purl, component);
    component.properties.add(new Models.Property(DELIVERY, delivery));
    return component;
  };
  const byFolder = new Map();
  for (const folder of bundled) byFolder.set(folder, addComponent(folder, 'bundled'));
  for (const folder of installed) {
    const component = addComponent(folder, 'installed');
    if (packages[folder].optional || packages[folder].devOptional) component.scope = Enums.ComponentScope.Optional;
    byFolder.set(folder, component);
  }

  for (const [folder, component] of byFolder) {
    for (const name of needsOf(packages[folder])) {
      const needed = byFolder.get(findFolder(packages, folder, name));
      if (needed !== undefined) component.dependencies.add(needed.bomRef);
    }
  }
  for (const name of [...Object.keys(own.dependencies), ...bundled.map(nameOf)]) {
    const component = byFolder.get(`node_modules/${name}`);
    if (component !== undefined) root.dependencies.add(component.bomRef);
  }
  for (const component of components.values()) bill.components.add(component);

  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  return `${serializer.serialize(bill, { sortLists: true, space: 2 })}\n`;
}

function componentOf(fullName, { version, license, integrity }, { Enums, Models }) {
  const [name, group] = fullName.split('/').reverse();
  const purl = `pkg:npm/${fullName.replace('@', '%40')}@${version}`;
  const component = new Models.Component(Enums.ComponentType.Library, name, { group, version, purl, bomRef: purl });
  if (license !== undefined)
    component.licenses.add(
      / (?:AND|OR|WITH) /.test(license) ? new Models.LicenseExpression(license) : new Models.SpdxLicense(license),
    );
  // The hash of the package's archive in the registry, taken from the lock file.
  const [, sha512] = /^sha512-(\S+)/.exec(integrity ?? '') ?? [];
  if (sha512 !== undefined)
    component.hashes.set(Enums.HashAlgorithm['SHA-512'], Buffer.from(sha512, 'base64').toString('hex'));
  return component;
}

function nameOf(folder) {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function needsOf({ dependencies = {}, optionalDependencies = {}, peerDependencies = {} }) {
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
}

/** The folder where Node finds a package that is imported from `from`: in its own node_modules, or in one above. */
function findFolder(packages, from, name) {
  for (let folder = from; ; folder = posix.dirname(folder)) {
    const found = posix.join(folder === '.' ? '' : folder, 'node_modules', name);
    if (packages[found] !== undefined) return found;
    if (folder === '.') return undefined;
  }
}

/** The licence texts of the packages that are bundled into dist. Their licences require it. */
function licensesOf(bundled) {
  const texts = bundled.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(TOP, folder, 'package.json'), 'utf8'));
    const file = readdirSync(join(TOP, folder)).find((each) => /^licen[cs]e/i.test(each));
    const text = file === undefined ? `License: ${license}` : readFileSync(join(TOP, folder, file), 'utf8').trim();
    return `${name} ${version}\n\n${text}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}
