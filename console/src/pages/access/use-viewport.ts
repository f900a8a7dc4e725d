import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export interface Viewport {
  readonly top: number;
  readonly left: number;
  readonly width: number;
  readonly height: number;
  /** The width of the surrounding element, which limits how wide this one can become. */
  readonly room: number;
}

/** The visible part of a scrolling element. It changes at most once per frame. */
export function useViewport(ref: RefObject<HTMLElement | null>): Viewport {
  const [view, setView] = useState<Viewport>({ top: 0, left: 0, width: 0, height: 0, room: 0 });
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    let frame = 0;
    const read = (): void => {
      frame = 0;
      const { scrollTop: top, scrollLeft: left, clientWidth: width, clientHeight: height } = element;
      setView({ top, left, width, height, room: element.parentElement?.clientWidth ?? width });
    };
    const readSoon = (): void => {
      if (frame === 0) frame = requestAnimationFrame(read);
    };
    const resize = new ResizeObserver(readSoon);
    resize.observe(element);
    if (element.parentElement !== null) resize.observe(element.parentElement);
    element.addEventListener('scroll', readSoon, { passive: true });
    read();
    return () => {
      cancelAnimationFrame(frame);
      resize.disconnect();
      element.removeEventListener('scroll', readSoon);
    };
  }, []);
  return view;
}
