// The texts of a release: its version, and its part of the changelog.
import semver from 'semver';

/** Thrown when the release cannot be made. The message states what the user has to do. */
export class ReleaseRefusal extends Error {}

/** Throws unless the version is higher than the one in package.json. The first release may have the same version. */
export function nextVersion(version, { current, changelog }) {
  if (semver.valid(version) !== version)
    throw new ReleaseRefusal(`"${version}" is not a version. Write it as 1.2.3, or 1.2.3-rc.1.`);
  const isFirst = !/^## \d/m.test(changelog);
  const isHigher = isFirst ? semver.gte(version, current) : semver.gt(version, current);
  if (!isHigher) throw new ReleaseRefusal(`${version} is not higher than ${current}, the version in package.json.`);
}

/** Moves the entries under Unreleased to a heading with the version and the date. */
export function nextChangelog(changelog, version, date) {
  const [heading, ...more] = changelog.match(/^## Unreleased$/gm) ?? [];
  if (heading === undefined || more.length > 0)
    throw new ReleaseRefusal('CHANGELOG.md needs exactly one heading "## Unreleased".');
  const [before, after] = changelog.split(/^## Unreleased\n/m);
  const unreleased = after.split(/^## /m)[0];
  if (!/^[-*] \S/m.test(unreleased))
    throw new ReleaseRefusal('CHANGELOG.md has no entries under Unreleased: there is nothing to release.');
  return `${before}## Unreleased\n\n## ${version} - ${date}\n${after}`;
}
