import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEmbeddingsClient, type EmbeddingsSettings } from '../../src/worker/services/models/embeddings-client.ts';
import { models } from '../../src/worker/services/models/models.ts';
import { readSecret } from '../../src/worker/services/read-secret.ts';
import { createServiceRegistry } from '../../src/worker/services/registry.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { SILENT } from './scene.ts';
import { sendJson, startEmbeddingsServer, vectorOf, type EmbeddingsServer } from './support/embeddings-server.ts';

let server: EmbeddingsServer;
let folder: TemporaryFolder;
beforeEach(async () => {
  server = await startEmbeddingsServer();
  folder = temporaryFolder('sallyport-models');
});
afterEach(async () => {
  await server.stop();
  folder.remove();
});

describe('the embeddings client', () => {
  const clientOf = (more: Partial<EmbeddingsSettings> = {}) =>
    createEmbeddingsClient(
      {
        baseUrl: server.baseUrl,
        model: 'topics-1',
        batch: 64,
        timeoutMs: 5000,
        retries: 3,
        maxResponseBytes: 100_000,
        ...more,
      },
      SILENT,
    );

  it('sends model, texts and key, and puts the vectors in the order of the texts', async () => {
    const texts = ['a cat', 'a train', 'soup'];
    const client = clientOf({ key: 'sk-test', dimensions: 4 });
    expect(await client.embed(texts)).toEqual(texts.map(vectorOf));
    expect(server.asked).toMatchObject([
      {
        path: 'POST /v1/embeddings',
        headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
        body: { model: 'topics-1', input: texts, encoding_format: 'float', dimensions: 4 },
      },
    ]);
  });

  it('sends no more texts at once than a batch', async () => {
    const texts = Array.from({ length: 5 }, (_, index) => `text ${index}`);
    expect(await clientOf({ batch: 2 }).embed(texts)).toHaveLength(5);
    expect(server.asked.map(({ body }) => body.input.length)).toEqual([2, 2, 1]);
  });

  it.each([429, 500, 503])('tries again after %s, at the time that the server asks for', async (status) => {
    server.instead = (_, response, count) => {
      if (count > 2) return false;
      sendJson(response, status, { error: {} }, { 'retry-after': '0' });
      return true;
    };
    const client = clientOf();
    expect(await client.embed(['a cat'])).toEqual([vectorOf('a cat')]);
    expect(server.asked).toHaveLength(3);
    expect(client.health()).toEqual({ state: 'ok' });
  });

  it.each([400, 401, 404])('does not try again after %s, and is degraded until it works', async (status) => {
    server.instead = (_, response) => (sendJson(response, status, { error: { message: 'key sk-test' } }), true);
    const client = clientOf({ key: 'sk-test' });
    const failed = await client.embed(['x']).catch((error: unknown) => error as Error);
    expect(failed).toMatchObject({ code: 'MODEL_FAILED', message: 'The embeddings model does not answer now.' });
    expect(server.asked).toHaveLength(1);
    expect(client.health()).toEqual({ state: 'degraded', detail: `the last request failed: status ${status}` });
    server.instead = () => false;
    await client.embed(['x']);
    expect(client.health()).toEqual({ state: 'ok' });
  });

  it('gives up after its retries', async () => {
    server.instead = (_, response) => (sendJson(response, 500, {}, { 'retry-after': '0' }), true);
    await expect(clientOf({ retries: 2 }).embed(['x'])).rejects.toMatchObject({ code: 'MODEL_FAILED' });
    expect(server.asked).toHaveLength(3);
  });

  it('gives up a request that takes too long, and ends with the signal of its caller', async () => {
    server.instead = () => true;
    await expect(clientOf({ timeoutMs: 100, retries: 0 }).embed(['x'])).rejects.toMatchObject({ code: 'MODEL_FAILED' });
    const controller = new AbortController();
    const embedding = clientOf().embed(['x'], controller.signal);
    controller.abort();
    await expect(embedding).rejects.toMatchObject({ code: 'SERVICE_TIMED_OUT' });
    const closed = clientOf();
    const last = closed.embed(['x']);
    closed.close();
    await expect(last).rejects.toMatchObject({ code: 'SERVICE_TIMED_OUT' });
  });

  it('follows no redirection: it would take the key along', async () => {
    server.instead = (_, response) => (response.writeHead(307, { location: `${server.baseUrl}/else` }).end(), true);
    await expect(clientOf({ key: 'sk-test', retries: 0 }).embed(['x'])).rejects.toMatchObject({ code: 'MODEL_FAILED' });
    expect(server.asked.map(({ path }) => path)).toEqual(['POST /v1/embeddings']);
  });

  const one = (embedding: unknown, index: unknown = 0): object => ({ data: [{ index, embedding }] });
  it.each([
    ['too few', { data: [] }, 'has not the 1 embeddings'],
    ['no list', { data: 'x' }, 'has not the 1 embeddings'],
    ['text', one(['1']), 'no list of numbers'],
    ['nothing in it', one([]), 'no list of numbers'],
    ['another place', one([1, 2, 3, 4], 7), 'no place of its own'],
    ['other dimensions', one([1, 2]), '2 dimensions instead of 4'],
    [
      'far too much',
      { data: [{ index: 0, embedding: [1, 2, 3, 4], more: 'x'.repeat(200_000) }] },
      'larger than 100000 bytes',
    ],
  ])('refuses an answer with %s', async (_, answer, problem) => {
    server.instead = (__, response) => (sendJson(response, 200, answer), true);
    const client = clientOf({ dimensions: 4 });
    await expect(client.embed(['x'])).rejects.toMatchObject({ code: 'MODEL_FAILED' });
    expect(client.health().detail).toContain(problem);
    expect(server.asked).toHaveLength(1);
  });

  it('refuses what is no JSON', async () => {
    server.instead = (_, response) => (response.end('<html>'), true);
    const client = clientOf();
    await expect(client.embed(['x'])).rejects.toMatchObject({ code: 'MODEL_FAILED' });
    expect(client.health().detail).toContain('no JSON');
  });
});

describe('the models service', () => {
  const start = async (config: Record<string, string>) => {
    const registry = createServiceRegistry({
      services: new Map([['models', { definition: models, config }]]),
      openStorage: () => Promise.reject(new Error('not needed')),
      secret: readSecret,
      log: SILENT,
    });
    await registry.start(['models']);
    return registry;
  };

  it('takes its key from a file that only its owner can read', async () => {
    const file = join(folder.path, 'key');
    writeFileSync(file, 'sk-of-file\n', { mode: 0o600 });
    const registry = await start({ baseUrl: server.baseUrl, model: 'm', key: `file:${file}` });
    const access = registry.open(['models'], {} as Parameters<typeof registry.open>[1]);
    expect(await access.call({ service: 'models', method: 'embed', args: [['a cat']] })).toEqual([vectorOf('a cat')]);
    expect(server.asked[0]!.headers.authorization).toBe('Bearer sk-of-file');
    await registry.stop();
    chmodSync(file, 0o644);
    await expect(start({ baseUrl: server.baseUrl, model: 'm', key: `file:${file}` })).rejects.toThrow('chmod 600');
  });

  it.each([
    [{ key: 'env:SALLYPORT_NO_SUCH_KEY' }, 'the environment has no SALLYPORT_NO_SUCH_KEY'],
    [{ key: 'sk-in-the-clear' }, 'expected env:NAME or file:PATH'],
    [{ baseUrl: 'http://models.example.com/v1' }, 'expected https'],
    [{ baseUrl: 'https://user:pass@models.example.com/v1' }, 'baseUrl'],
  ])('is refused with %o', async (more, problem) => {
    const refused = await start({ baseUrl: server.baseUrl, model: 'm', ...more }).catch(
      (error: unknown) => error as Error,
    );
    expect(refused).toMatchObject({ code: 'SERVICES_INVALID', message: expect.stringContaining(problem) });
    expect((refused as Error).message).not.toContain('in-the-clear');
  });
});
