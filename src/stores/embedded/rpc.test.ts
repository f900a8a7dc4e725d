import { expect, it } from 'vitest';
import { planeError, PlaneError } from '../../domain/errors/errors.ts';
import { carryError, decodeFrame, encodeFrame, FrameReader, rebuildError } from './rpc.ts';

/** A frame with its length before it, as the bytes of a socket have it. */
function framed(content: unknown): Buffer {
  const frame = encodeFrame(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(frame.byteLength);
  return Buffer.concat([length, frame]);
}

it('frames are put together again, however the socket cuts them', () => {
  const contents = [
    [1, 'now'],
    [2, 'x'.repeat(300)],
    [3, { bytes: new Uint8Array([1, 2, 3]) }],
  ];
  const stream = Buffer.concat(contents.map(framed));
  for (const step of [1, 2, 3, 5, 7, 100, stream.byteLength]) {
    const frames: unknown[] = [];
    const reader = new FrameReader((frame) => frames.push(decodeFrame(frame)));
    for (let from = 0; from < stream.byteLength; from += step) reader.push(stream.subarray(from, from + step));
    expect(frames, `cut every ${step} bytes`).toEqual(contents);
  }
});

it('a frame reader refuses a length that no peer would send', () => {
  const reader = new FrameReader(() => expect.unreachable());
  expect(() => reader.push(Buffer.from([0xff, 0xff, 0xff, 0xff]))).toThrow(RangeError);
});

it('a frame has memory of its own, so that it can be given to another thread', () => {
  const frame = encodeFrame([1, 'acceptCall', { envelope: new Uint8Array(10) }]);
  expect(frame.buffer.byteLength).toBe(frame.byteLength);
});

it('bytes in a frame come out as copies', () => {
  const [bytes] = decodeFrame(Buffer.from(encodeFrame([new Uint8Array([7, 8])]))) as [Uint8Array];
  expect(bytes.constructor).toBe(Uint8Array);
  expect(bytes.buffer.byteLength).toBe(2);
});

it('an error keeps its code and facts on the way', () => {
  const error = planeError('STORE_OWNED', { file: 'a', pid: 7 });
  const arrived = rebuildError(decodeFrame(encodeFrame(carryError(error))) as ReturnType<typeof carryError>);
  expect(arrived).toBeInstanceOf(PlaneError);
  expect(arrived).toMatchObject({ code: 'STORE_OWNED', facts: { file: 'a', pid: 7 }, message: error.message });
});

it('an error that is not of the plane arrives as INTERNAL with its message', () => {
  expect(rebuildError(carryError(new TypeError('no')))).toMatchObject({ code: 'INTERNAL', facts: { problem: 'no' } });
});
