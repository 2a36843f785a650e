/** Spans of OpenTelemetry, each under a parent that is named by its `traceparent`: a claim's checks may run on several hosts, with hours between them. */
import {
  isSpanContextValid,
  type Span as OpenSpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'

export interface Tracing {
  /** True if spans are recorded; otherwise `begin` costs next to nothing. */
  readonly isOn: boolean
  /**
   * Begins a span.
   * @param parent W3C Trace Context in a valid form; without it a trace begins
   */
  begin(name: string, options?: SpanOptions): Span
  /** Sends the spans that are left. */
  close(): Promise<void>
}

export interface SpanOptions {
  readonly parent?: string | null | undefined
  /** The `traceparent` of a client. The span links to its trace, which decides neither this trace's id nor whether it is sampled. */
  readonly link?: string | undefined
  readonly attributes?: Attributes
  /** True for a span that answers a request. */
  readonly isRequest?: boolean
}

export type Attributes = Readonly<Record<string, string | number | boolean>>

export interface Span {
  /** The `traceparent` with which other spans name this one as their parent. */
  readonly traceparent: string | undefined
  end(attributes?: Attributes, hasFailed?: boolean): void
}

const NO_SPAN: Span = { traceparent: undefined, end() {} }

export const NO_TRACING: Tracing = { isOn: false, begin: () => NO_SPAN, close: async () => {} }

export function tracingWith(tracer: Tracer, close: () => Promise<void>): Tracing {
  return {
    isOn: true,
    begin(name, { parent, link, attributes, isRequest = false } = {}) {
      const kind = isRequest ? SpanKind.SERVER : SpanKind.INTERNAL
      const linked = spanContextOf(link)
      const options = {
        kind,
        ...(attributes ? { attributes } : {}),
        ...(linked ? { links: [{ context: linked }] } : {}),
      }
      const above = spanContextOf(parent)
      return toSpan(tracer.startSpan(name, options, above ? trace.setSpanContext(ROOT_CONTEXT, above) : ROOT_CONTEXT))
    },
    close,
  }
}

function toSpan(span: OpenSpan): Span {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    end(attributes = {}, hasFailed = false) {
      span.setAttributes(attributes)
      if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
  }
}

function spanContextOf(traceparent: string | null | undefined): SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = (traceparent ?? '').split('-')
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED
  const spanContext = { traceId, spanId, traceFlags, isRemote: true }
  return isSpanContextValid(spanContext) ? spanContext : undefined
}

/** Matches a `traceparent`: version, trace id, id of the caller's span, and flags. Later versions may add more, which is left out. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=$|(?<!^00.*)-)/

/** Reads the `traceparent` in a header. An invalid one is ignored, as W3C Trace Context says. */
export function traceparentIn(header: unknown): string | undefined {
  return typeof header === 'string' ? TRACEPARENT.exec(header)?.[0] : undefined
}
