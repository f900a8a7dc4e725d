/** What a program gets of the worker's own environment. Everything else it must be given by the configuration. */
const HANDED_ON = ['PATH', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR'];

/** The environment of a program: the path, the locale, a home folder of its own, and what the configuration declares. */
export function childEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  home: string,
  declared: Readonly<Record<string, string>>,
): Record<string, string> {
  const handedOn = Object.entries(own).filter(([name]) => HANDED_ON.includes(name) || name.startsWith('LC_'));
  return { ...(Object.fromEntries(handedOn) as Record<string, string>), HOME: home, ...declared };
}
