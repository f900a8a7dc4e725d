import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Policy } from '../../src/domain/policy/policy.ts';
import type { Rule } from '../../src/domain/policy/rule.ts';
import type { SessionHandle } from '../../src/exports/client.ts';
import { decide, park, policyWith } from './support/gate-plane.ts';
import { BACKENDS, OPEN_POLICY, outcomeOf, stagePlane, type StagedPlane } from './support/stage-plane.ts';

const FILE = fileURLToPath(new URL('../fixtures/surfaces-plane/library.mjs', import.meta.url));
/** One module, served from both runners by one worker. */
const IDS = { inline: 'library', process: 'annex' } as const;
const RUNNERS = ['inline', 'process'] as const;

function policyOf(selection: readonly { module: string; tools: 'all' | string[] }[]): Policy {
  return { ...OPEN_POLICY, agents: { main: { selection } } };
}

describe.each(BACKENDS)('resources and prompts on %s', (backend) => {
  let plane: StagedPlane;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    const modules = join(plane.folder, 'modules.json');
    writeFileSync(modules, JSON.stringify(RUNNERS.map((runner) => ({ id: IDS[runner], file: FILE, runner }))));
    await plane.startWorker({ modules });
  });
  afterAll(() => plane.stop());

  describe.each(RUNNERS)('from the %s runner', (runner) => {
    const id = IDS[runner];
    let session: SessionHandle;
    beforeEach(async () => {
      await plane.setPolicy(policyOf([{ module: id, tools: 'all' }]));
      session = await plane.openSession();
    });
    afterEach(() => plane.setPolicy(OPEN_POLICY));

    it('are listed with what they need, and are in no toolkit', async () => {
      const resources = await plane.client.resources(session);
      expect(resources.map((one) => ('uri' in one ? one.uri : one.uriTemplate))).toStrictEqual([
        'book://cover',
        'shelf:///{+path}',
        'book://index',
        'book://{title}/{page}',
      ]);
      expect(resources[2]).toStrictEqual({
        id: `${id}.resource--index`,
        module: id,
        name: 'index',
        title: 'All books',
        description: 'The resource book://index.',
        completes: false,
        mediaType: 'text/plain',
        uri: 'book://index',
      });
      const [hello, review] = await plane.client.prompts(session);
      expect(hello).toMatchObject({ name: 'hello', title: 'Hello', description: 'Begins.', arguments: [] });
      expect(review?.arguments).toStrictEqual([
        { name: 'title', description: 'Which book', required: true },
        { name: 'tone', required: false },
        { name: 'pages', required: false },
      ]);
      const { tools } = await plane.client.toolkit(session);
      expect(tools.map(({ tool }) => tool.id)).toStrictEqual([`${id}.cite`, `${id}.count`]);
    });

    it('are read by their URI, text and bytes, from a template with its variables decoded', async () => {
      expect(await plane.client.readResource(session, 'book://index')).toMatchObject({
        kind: 'read',
        contents: [{ kind: 'resource', uri: 'book://index', mediaType: 'text/plain', text: 'Moby Dick' }],
      });
      const cover = await plane.client.readResource(session, 'book://cover');
      const [bytes] = cover.kind === 'read' ? cover.contents : [];
      expect(bytes).toMatchObject({ uri: 'book://cover', mediaType: 'image/png' });
      expect(bytes !== undefined && 'bytes' in bytes && Buffer.from(bytes.bytes).toString('base64')).toBe(
        'iVBORw0KGgo=',
      );
      expect(await plane.client.readResource(session, 'book://Moby%20Dick/7')).toMatchObject({
        contents: [
          { uri: 'book://Moby%20Dick/7', mediaType: 'text/plain', text: 'Moby Dick 7 main alice' },
          { uri: 'book://Moby%20Dick/7/notes', text: '…' },
        ],
      });
      expect(await plane.client.readResource(session, 'shelf:///a/b%2Fc.txt')).toMatchObject({
        contents: [{ text: 'a/b/c.txt' }],
      });
    });

    it('that do not exist are distinguished from those that fail', async () => {
      for (const uri of ['book://nowhere', 'no uri', `book://${'a'.repeat(100_000)}/1`])
        expect(await plane.client.readResource(session, uri)).toMatchObject({
          kind: 'refused',
          outcome: { kind: 'unknown-tool', error: { code: 'RESOURCE_UNKNOWN' } },
        });
      expect(await plane.client.readResource(session, 'book://none/1')).toMatchObject({
        outcome: { kind: 'failed', error: { facts: { code: 'RESOURCE_NOT_FOUND' } } },
      });
      expect(await plane.client.readResource(session, 'book://burnt/1')).toMatchObject({
        outcome: { kind: 'failed', executed: 'yes', error: { message: 'It burnt.', facts: { code: 'BURNT' } } },
      });
      // The client library would not send this URI, so the worker has to check it.
      const forged = await plane.client.call(session, `${id}.resource--page`, { uri: 'shelf:///etc/passwd' });
      expect(await outcomeOf(plane, session, forged)).toMatchObject({
        error: { facts: { code: 'RESOURCE_NOT_FOUND' } },
      });
    });

    it('render with arguments that were parsed, and keep who says what', async () => {
      expect(await plane.client.getPrompt(session, 'hello')).toMatchObject({
        kind: 'rendered',
        messages: [{ role: 'user', content: { kind: 'text', text: 'Hello!' } }],
      });
      expect(await plane.client.getPrompt(session, `${id}.review`, { title: 'Emma', pages: '3' })).toMatchObject({
        description: 'About Emma',
        messages: [
          { role: 'user', content: { kind: 'text', text: 'A kind review of Emma, number.' } },
          { role: 'assistant', content: { kind: 'image', mediaType: 'image/png' } },
          { role: 'user', content: { kind: 'resource', uri: 'book://index', text: 'Moby Dick' } },
        ],
      });
      expect(await plane.client.getPrompt(session, 'review', {})).toMatchObject({
        outcome: { kind: 'invalid', executed: 'no', error: { code: 'ARGUMENTS_INVALID' } },
      });
      expect(await plane.client.getPrompt(session, 'absent')).toMatchObject({
        kind: 'refused',
        outcome: { error: { code: 'PROMPT_UNKNOWN' } },
      });
    });

    it('help with an argument that is being typed', async () => {
      const of = { uriTemplate: 'book://{title}/{page}' };
      expect(
        await plane.client.complete(session, { of, argument: 'page', value: '1', known: { title: '1984' } }),
      ).toStrictEqual({ kind: 'completed', values: ['1', '12', '1984'], hasMore: false });
      expect(
        await plane.client.complete(session, { of: { prompt: 'review' }, argument: 'title', value: 'E' }),
      ).toStrictEqual({ kind: 'completed', values: ['Emma'], hasMore: true, total: 7 });
      expect(
        await plane.client.complete(session, { of: { prompt: 'hello' }, argument: 'title', value: '' }),
      ).toStrictEqual({ kind: 'completed', values: [], hasMore: false });
    });

    it('within an answer of a tool reach the caller as they are', async () => {
      const answer = await plane.client.call(session, `${id}.cite`, {});
      const { content } = await outcomeOf(plane, session, answer);
      expect(content).toMatchObject([
        { kind: 'resource', uri: 'book://main/1', mediaType: 'text/plain', text: 'Call me Ishmael.' },
        { kind: 'resource', uri: 'book://main/cover' },
      ]);
      expect(content[1]).not.toHaveProperty('mediaType');
    });

    /** Reads in both ways: by the URI, which finds the resource, and by a plain call of the resource's entry in the catalog. */
    async function readBoth(name: string, uri: string) {
      const found = await plane.client.readResource(session, uri);
      const called = await plane.client.call(session, `${id}.resource--${name}`, { uri });
      return [
        found.kind === 'read' ? found : await outcomeOf(plane, session, found),
        await outcomeOf(plane, session, called),
      ];
    }

    it('are judged by the URI that is read, however it was encoded', async () => {
      const rules: Rule[] = [
        { id: 'no-prod', verdict: 'deny', tools: ['*'], arguments: [{ at: '/uri', equals: 'book://prod/1' }] },
        { id: 'no-vault', verdict: 'deny', tools: ['*'], arguments: [{ at: '/uri', glob: 'shelf:///vault/**' }] },
      ];
      await plane.setPolicy({ ...policyOf([{ module: id, tools: 'all' }]), rules });
      const denied = { kind: 'denied', executed: 'no', error: { code: 'RULE_DENIED' } };
      session = await plane.openSession();
      for (const uri of ['book://prod/1', 'book://%70rod/1', 'book://%70%72%6f%64/%31'])
        expect(await readBoth('page', uri)).toMatchObject([denied, denied]);
      for (const uri of ['shelf:///vault/a', 'shelf:///%76ault/a', 'shelf:///vault%2fa', 'shelf:///vault%2F%61'])
        expect(await readBoth('file', uri)).toMatchObject([denied, denied]);
    });

    it('are not read by a URI that leads out of its place', async () => {
      const outside = { kind: 'invalid', executed: 'no', error: { code: 'ARGUMENTS_INVALID' } };
      for (const uri of ['book://..%2f..%2fetc/1', 'book://a%00/1', 'book://%2E%2e/1', 'book://../1', 'book://a%5Cb/1'])
        expect(await readBoth('page', uri)).toMatchObject([outside, outside]);
      for (const path of ['public/%2e%2e/secret/a', 'public/../secret/a', 'a/.', '%2e%2e%2fa', 'a%00', 'a%5c..%5cb'])
        expect(await readBoth('file', `shelf:///${path}`)).toMatchObject([outside, outside]);
    });

    it('are asked about with the URI that is read', async () => {
      await plane.setPolicy(policyWith([{ id: 'ask', verdict: 'ask', tools: [`${id}.resource--page`] }]));
      session = await plane.openSession();
      const parked = await park(plane, session, `${id}.resource--page`, { uri: 'book://%70r%6fd%20%c3%a9/1' });
      expect(parked.approval.question.arguments).toBe('{"uri":"book://prod%20%C3%A9/1"}');
      await decide(plane, parked.approval, 'allow-once');
      expect((await parked.outcome).content).toMatchObject([
        { uri: 'book://prod%20%C3%A9/1', text: 'prod é 1 main alice' },
        { uri: 'book://prod%20%C3%A9/1/notes' },
      ]);
    });

    it('that an agent did not select or may not use are neither listed nor run', async () => {
      const listed = async (): Promise<string[]> => [
        ...(await plane.client.resources(session)).map((one) => one.name),
        ...(await plane.client.prompts(session)).map((one) => one.name),
      ];
      await plane.setPolicy(policyOf([{ module: id, tools: ['count', 'resource--index', 'prompt--hello'] }]));
      expect(await listed()).toStrictEqual(['index', 'hello']);
      expect((await plane.client.toolkit(session)).missing.map(({ reason }) => reason)).not.toContain('unknown-name');
      expect(await plane.client.readResource(session, 'book://cover')).toMatchObject({
        outcome: { error: { code: 'RESOURCE_UNKNOWN' } },
      });
      const direct = await plane.client.call(session, `${id}.resource--cover`, {});
      expect(await outcomeOf(plane, session, direct)).toMatchObject({
        kind: 'denied',
        executed: 'no',
        error: { code: 'NOT_SELECTED' },
      });

      const denied = { ...OPEN_POLICY.permissions, [`${id}.resource--index`]: { deny: ['alice'] } };
      await plane.setPolicy({ ...policyOf([{ module: id, tools: 'all' }]), permissions: denied });
      expect(await listed()).not.toContain('index');
      const refused = await plane.client.call(session, `${id}.resource--index`, {});
      expect(await outcomeOf(plane, session, refused)).toMatchObject({ error: { code: 'PERMISSION_DENIED' } });
    });
  });

  it('of one name in two modules must be named with their module', async () => {
    const session = await plane.openSession();
    const answer = await plane.client.getPrompt(session, 'hello');
    expect(answer).toMatchObject({ outcome: { error: { facts: { several: ['annex.hello', 'library.hello'] } } } });
    expect(await plane.client.getPrompt(session, 'annex.hello')).toMatchObject({ kind: 'rendered' });
  });
});
