import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, context, ROOT_CONTEXT, type Span, type SpanOptions, trace } from '@opentelemetry/api';
import { afterAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/adapters/postgres-store/database.ts';
import { tracedCall } from '../../src/http/team/team-metrics.ts';

/** What an SDK that an operator preloads registers, as far as spans need it. */
const storage = new AsyncLocalStorage<Context>();
const spans: { readonly name: string; readonly traceId: string | undefined; readonly options: SpanOptions }[] = [];

afterAll(() => {
  trace.disable();
  context.disable();
});

it('a call is a span under the one that its _meta names, and its statements are spans without values', async () => {
  context.setGlobalContextManager({
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: ((of: Context, work: () => unknown) => storage.run(of, work)) as never,
    bind: (_, target) => target,
    enable: () => context as never,
    disable: () => context as never,
  });
  const startSpan = (name: string, options: SpanOptions = {}, of: Context = context.active()): Span => {
    const parent = trace.getSpanContext(of);
    spans.push({ name, traceId: parent?.traceId, options });
    const own = { traceId: parent?.traceId ?? '', spanId: String(spans.length), traceFlags: 1 };
    return { spanContext: () => own, setStatus: () => undefined, end: () => undefined } as unknown as Span;
  };
  const startActiveSpan = (...given: readonly [string, SpanOptions, Context, (span: Span) => unknown]) => {
    const [name, options, of, work] = given;
    const span = startSpan(name, options, of);
    return context.with(trace.setSpan(of, span), () => work(span));
  };
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan }) as never });

  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const meta = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  const database = openDatabase({ url: 'postgres://nobody@127.0.0.1:1/none' });
  await tracedCall({ meta, tool: 'start_workflow' }, () =>
    database.run({ name: 'wr_append', text: 'select $1' }, ['the secret goal']),
  );
  await tracedCall({ meta: { traceparent: 'nonsense' }, tool: 'list_workflows' }, async () => undefined);
  await database.close();
  expect(spans.map(({ name, traceId: of }) => [name, of])).toEqual([
    ['tools/call start_workflow', traceId],
    ['wr_append', traceId],
    ['tools/call list_workflows', undefined],
  ]);
  expect(JSON.stringify(spans)).not.toContain('secret');
});
