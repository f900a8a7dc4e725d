// Measures round trips caller → worker → caller in a closed loop: bare streams, BullMQ, the naive sequence and Sallyport, interleaved in
// one run. Machines differ and other programs disturb, so the ratios are the result. The absolute figures are only there to judge the
// ratios.
import { runBench } from './harness/run-bench.ts';
import { measureVariants } from './round-trip/measure.ts';
import { parseOptions, USAGE } from './round-trip/options.ts';
import { reportRoundTrip } from './round-trip/report.ts';

await runBench({
  usage: USAGE,
  async run(args) {
    const options = parseOptions(args);
    const command = ['npm run bench -- round-trip', ...args].join(' ');
    return reportRoundTrip(command, options, await measureVariants(options));
  },
});
