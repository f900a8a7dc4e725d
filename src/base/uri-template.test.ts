import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUri, parseUriTemplate, URI_LIMITS, type UriTemplate } from './uri-template.ts';

function templateOf(text: string): UriTemplate {
  const parsed = parseUriTemplate(text);
  if (parsed.kind === 'problem') throw new Error(parsed.problem);
  return parsed.template;
}

function valuesOf(text: string, uri: string): Readonly<Record<string, string>> | undefined {
  const read = templateOf(text).read(uri);
  return read.kind === 'read' ? read.values : undefined;
}

describe('a URI template', () => {
  it.each([
    ['book://{title}/{page}', 'book://a/1', { title: 'a', page: '1' }],
    ['book://{title}/{page}', 'book://a%20b/%C3%A9', { title: 'a b', page: 'é' }],
    ['test://template/{id}/data', 'test://template/123/data', { id: '123' }],
    ['file:///{+path}', 'file:///a/b/c.txt', { path: 'a/b/c.txt' }],
    ['file:///{+path}/{name}', 'file:///a/b/c.txt', { path: 'a/b', name: 'c.txt' }],
    ['file:///{root}/{+path}.md', 'file:///r/a/b.md', { root: 'r', path: 'a/b' }],
    ['page:{#part}', 'page:#a/b', { part: 'a/b' }],
    ['x:{name}.{ending}', 'x:a.b.c', { name: 'a', ending: 'b.c' }],
    ['x:{a}--{b}', 'x:-----', { a: '-', b: '--' }],
    ['x:{a}.json', 'x:b.json.json', { a: 'b.json' }],
  ])('%s finds what stands for its variables in %s', (text, uri, values) => {
    expect(valuesOf(text, uri)).toStrictEqual(values);
  });

  it.each([
    ['hb://pages/{page}', 'hb://pages/%70rod', 'hb://pages/prod'],
    ['hb://%70ages/{page}', 'hb://p%61ges/%c3%a9%21', 'hb://pages/%C3%A9%21'],
    ['hb://f/{+path}', 'hb://f/a%2fb%3Fc%20%25%32%46', 'hb://f/a/b?c%20%252F'],
    ['x:{name}-{rest}', 'x:a%2Db-c', 'x:a-b-c'],
  ])('%s has one spelling for what %s says: %s', (text, uri, canonical) => {
    expect(templateOf(text).read(uri)).toMatchObject({ kind: 'read', uri: canonical });
    expect(templateOf(text).read(canonical)).toStrictEqual(templateOf(text).read(uri));
  });

  it.each([
    ['hb://pages/{page}', 'hb://pages/..%2f..%2fetc', 'its {page} has a slash'],
    ['hb://pages/{page}', 'hb://pages/a%00', 'its {page} has a control character'],
    ['hb://pages/{page}', 'hb://pages/a%5Cb', 'its {page} has a backslash'],
    ['hb://pages/{page}', 'hb://pages/%2e%2E', 'its {page} has a "." or ".." segment'],
    ['notes:{name}', 'notes:.', 'its {name} has a "." or ".." segment'],
    ['hb://f/{+path}', 'hb://f/public/%2e%2e/secret', 'its {path} has a "." or ".." segment'],
    ['hb://f/{+path}', 'hb://f/public%2F..', 'its {path} has a "." or ".." segment'],
    ['hb://f/.{name}', 'hb://f/.%2E', 'its {name} has a "." or ".." segment'],
    ['hb://f/.{name}x', 'hb://f/.a%2Fx', 'its {name} has a slash'],
  ])('%s refuses %s: %s', (text, uri, problem) => {
    expect(templateOf(text).read(uri)).toStrictEqual({ kind: 'refused', problem });
  });

  it('says different things with different canonical URIs', () => {
    const template = templateOf('x://{a}/{+path}');
    const text = fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom(...Array.from('aA%/2F?#.~!é-')) });
    const encode = (value: string): string =>
      Array.from(value)
        .map(
          (one) =>
            `%${Buffer.from(one)
              .toString('hex')
              .replaceAll(/(..)(?=.)/g, '$1%')}`,
        )
        .join('');
    fc.assert(
      fc.property(text, text, (a, path) => {
        const read = template.read(`x://${encode(a)}/${encode(path)}`);
        fc.pre(read.kind === 'read');
        expect(read).toMatchObject({ values: { a, path } });
        expect(template.read(read.uri)).toStrictEqual(read);
      }),
    );
  });

  it.each([
    ['book://{title}/{page}', 'book://a/b/c'],
    ['book://{title}/{page}', 'book:///1'],
    ['book://{title}/{page}', 'book://a/'],
    ['book://{title}', 'book://a?b'],
    ['book://{title}', 'shelf://a'],
    ['book://{title}', 'book://%GG'],
    ['book://{title}', 'book://%C3'],
    ['file:///{+path}', 'file:///'],
    ['file:///{+path}', 'file:///a b'],
    ['file:///{+path}', 'file:///é'],
    ['x:{a}b', 'x:b'],
  ])('%s does not describe %s', (text, uri) => {
    expect(templateOf(text).read(uri)).toStrictEqual({ kind: 'other' });
  });

  it.each([
    ['book://plain', 'it has no {variable}'],
    ['{scheme}://x', 'it does not begin with a scheme such as "notes:"'],
    ['x:{a}{b}', 'two variables have nothing between them'],
    ['x:{a}/{a}', 'it has {a} twice'],
    ['x:{+a}/{+b}', 'only one variable may be {+name} or {#name}'],
    ['x:{a', 'a "{" is not closed'],
    ['x:{a}}', 'a "}" is not opened'],
    ['x:{a,b}', '"{a,b}" is not {name}, {+name} or {#name}'],
    ['x:{?a}', '"{?a}" is not {name}, {+name} or {#name}'],
    ['x:{a*}', '"{a*}" is not {name}, {+name} or {#name}'],
    ['x:{__proto__}', '"{__proto__}" is not {name}, {+name} or {#name}'],
    ['x:a/../{a}', 'it has a "." or ".." segment'],
    ['x: {a}', 'it has characters that no URI has'],
    [`x:${'{a}/'.repeat(300)}`, `it has 1202 characters; the limit is ${URI_LIMITS.templateLength}`],
    [`x:${Array.from({ length: 21 }, (_, at) => `{v${at}}`).join('/')}`, 'it has more than 20 variables'],
    [7, 'it is not a text'],
  ])('%s cannot be one: %s', (text, problem) => {
    expect(parseUriTemplate(text)).toStrictEqual({ kind: 'problem', problem });
  });

  it('finds again what was written into it', () => {
    const value = fc.stringMatching(/^[a-z0-9_.~-]{1,8}$/);
    fc.assert(
      fc.property(value, value, fc.stringMatching(/^[a-z0-9/?=-]{1,12}$/), (a, b, path) => {
        const uri = `x://${a}/${path}/${b}`;
        fc.pre(![a, b].some((one) => one === '.' || one === '..'));
        expect(valuesOf('x://{a}/{+path}/{b}', uri)).toStrictEqual({ a, path, b });
      }),
    );
  });

  /**
   * Templates and URIs that are too long are rejected before they are parsed. Each matching of a shorter one takes at most one search per
   * variable.
   */
  it('is done at once with what is made to keep it busy', () => {
    const long = 'a'.repeat(100_000);
    expect(parseUriTemplate(`x:${'{'.repeat(100_000)}`).kind).toBe('problem');
    expect(valuesOf('x:{a}a{b}a{c}b', `x:${long}`)).toBeUndefined();
    const max = `x:${'a'.repeat(URI_LIMITS.uriLength - 2)}`;
    expect(isUri(max)).toBe(true);
    expect(isUri(`${max}a`)).toBe(false);
    const hard = templateOf(`x:${Array.from({ length: 19 }, (_, at) => `{v${at}}aaaaaaaaab`).join('')}{z}`);
    expect(hard.read(max).kind).toBe('other');
    expect(valuesOf('x:{a}%41{b}', `x:${'%41'.repeat(2700)}`)).toStrictEqual({ a: 'A', b: 'A'.repeat(2698) });
  });
});
