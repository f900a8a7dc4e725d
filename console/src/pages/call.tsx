import type { VNode } from 'preact';
import { PageHead } from '../components/page-head.tsx';
import { Empty } from '../components/states.tsx';

export function Call(): VNode {
  return (
    <>
      <PageHead title="Call" />
      <Empty title="Nothing here yet." />
    </>
  );
}
