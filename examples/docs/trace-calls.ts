// #region client
import { connect } from 'sallyport/client';

const client = await connect({
  store: 'redis',
  redis: { url: 'redis://127.0.0.1:6379' },
  telemetry: { traces: { endpoint: 'http://127.0.0.1:4318', serviceName: 'my-agent' } },
});
// #endregion

await client.close();
