import { isJsonObject } from '../../../base/json.ts';

const MAX_DIMENSIONS = 16_384;

export interface ExpectedEmbeddings {
  readonly count: number;
  readonly maxBytes: number;
  readonly dimensions?: number | undefined;
}

export type ReadEmbeddings =
  | { readonly kind: 'vectors'; readonly vectors: number[][] }
  | { readonly kind: 'problem'; readonly problem: string; readonly canRetry: boolean };

/** Trusts nothing in the response: checks the size, the shape, the number and the order of the vectors. */
export async function readEmbeddings(response: Response, expected: ExpectedEmbeddings): Promise<ReadEmbeddings> {
  const body = await readBody(response, expected.maxBytes);
  if (body === 'lost') return { kind: 'problem', problem: 'the answer broke off', canRetry: true };
  if (body === 'too-large') return problem(`the answer is larger than ${expected.maxBytes} bytes`);
  let answer: unknown;
  try {
    answer = JSON.parse(body.toString('utf8'));
  } catch {
    return problem('the answer is no JSON');
  }
  const data = isJsonObject(answer) ? answer['data'] : undefined;
  if (!Array.isArray(data) || data.length !== expected.count) {
    return problem(`the answer has not the ${expected.count} embeddings asked for`);
  }
  return collect(data, expected);
}

function collect(data: readonly unknown[], { count, dimensions }: ExpectedEmbeddings): ReadEmbeddings {
  const vectors: (number[] | undefined)[] = Array.from({ length: count });
  let length = dimensions;
  for (const [position, item] of data.entries()) {
    const { index = position, embedding } = (isJsonObject(item) ? item : {}) as {
      index?: unknown;
      embedding?: unknown;
    };
    if (typeof index !== 'number' || !(index in vectors) || vectors[index] !== undefined) {
      return problem('an embedding has no place of its own');
    }
    if (!isVector(embedding)) return problem('an embedding is no list of numbers');
    length ??= embedding.length;
    if (embedding.length !== length)
      return problem(`an embedding has ${embedding.length} dimensions instead of ${length}`);
    vectors[index] = embedding;
  }
  return { kind: 'vectors', vectors: vectors as number[][] };
}

function isVector(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MAX_DIMENSIONS &&
    value.every((number) => typeof number === 'number' && Number.isFinite(number))
  );
}

async function readBody(response: Response, maxBytes: number): Promise<Buffer | 'lost' | 'too-large'> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) return 'too-large';
      chunks.push(chunk);
    }
  } catch {
    return 'lost';
  }
  return Buffer.concat(chunks);
}

function problem(text: string): ReadEmbeddings {
  return { kind: 'problem', problem: text, canRetry: false };
}
