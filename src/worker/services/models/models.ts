import { z } from 'zod';
import { planeError } from '../../../domain/errors/errors.ts';
import { hostOfAddress } from '../../../base/http/host-of-address.ts';
import type { Models } from '../../../domain/ports/tool-services.ts';
import { defineService, type ServiceHandle } from '../define-service.ts';
import { longText, parseArgument, parseServiceConfig } from '../parse-arguments.ts';
import { createEmbeddingsClient } from './embeddings-client.ts';

const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost'];

const config = z.strictObject({
  /** Everything before `/embeddings`, e.g. `https://api.example.com/v1`. */
  baseUrl: z.url({ protocol: /^https?$/ }).refine(isSafeAddress, 'expected https, or http on this machine'),
  model: z.string().min(1).max(200),
  /** Reference to the API key: `env:NAME`, `file:PATH` or `secret:NAME`. Absent when the server asks for no key. */
  key: z.string().min(1).max(1000).optional(),
  dimensions: z.int().min(1).max(16_384).optional(),
  batch: z.int().min(1).max(2048).default(64),
  timeoutMs: z.int().min(100).max(300_000).default(20_000),
  retries: z.int().min(0).max(10).default(3),
  maxResponseBytes: z
    .int()
    .min(1024)
    .max(256 * 1024 * 1024)
    .default(32 * 1024 * 1024),
});
const texts = z
  .array(longText(64 * 1024))
  .min(1)
  .max(256);

/** Makes embeddings with any server that implements OpenAI's API. With it, `conversations` and `knowledge` can search by meaning. */
export const models = defineService({
  methods: ['embed'],
  async start({ name, config: given, secret, log }) {
    const { key: reference, ...settings } = parseServiceConfig(config, given, name);
    const key = reference === undefined ? undefined : await secret(reference);
    if (key !== undefined && !/^[\x21-\x7e]{1,4096}$/.test(key)) {
      throw planeError('SERVICES_INVALID', {
        problems: [`services.${name}.config.key: it cannot be sent in a header`],
      });
    }
    const client = createEmbeddingsClient({ ...settings, key }, log);
    return {
      // Reports the last request instead of sending one: asking the model every few seconds would cost money.
      health: () => client.health(),
      api: client,
      open: (call) => {
        const handle: Models = {
          async embed(asked) {
            const checked = parseArgument(texts, asked, 'models.embed');
            return (await client.embed(checked, call.signal)).map((vector) => [...vector]);
          },
        };
        return handle as unknown as ServiceHandle;
      },
      stop: () => client.close(),
    };
  },
});

/** The API key and the texts are sent to this address, so it must be https or on this machine. */
function isSafeAddress(address: string): boolean {
  const { protocol, username, password } = new URL(address);
  const host = hostOfAddress(address);
  if (username !== '' || password !== '' || host === undefined) return false;
  return protocol === 'https:' || LOOPBACK.includes(host);
}
