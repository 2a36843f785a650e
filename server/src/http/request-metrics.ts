/** Measures requests by the pattern of their route, never by their path. */
import type { FastifyRequest } from 'fastify'
import type { Meters } from '../base/meters.ts'
import type { App } from './instance.ts'

/** Histogram buckets in seconds: few, because each route has them for each method and class of status. */
const BUCKETS = [0.005, 0.02, 0.1, 0.5, 2, 10]

const unmeasured = new WeakSet<FastifyRequest>()

/** Leaves the duration of a request out: one whose answer goes on for as long as the client listens says nothing about the service. */
export function leaveUnmeasured(request: FastifyRequest): void {
  unmeasured.add(request)
}

export function measureRequests(app: App, meters: Meters): void {
  const seconds = meters.histogram(
    'http_request_duration_seconds',
    "How long requests took, by method, the route's pattern and the class of the status; route is empty where none fits",
    { labels: ['method', 'route', 'status'], buckets: BUCKETS },
  )
  const errors = meters.counter('http_errors_total', 'Requests answered with 500: faults of the program')
  app.addHook('onResponse', (request, reply, done) => {
    const status = `${Math.floor(reply.statusCode / 100)}xx`
    const route = request.is404 ? '' : (request.routeOptions.url ?? '')
    if (!unmeasured.has(request)) seconds.observe({ method: request.method, route, status }, reply.elapsedTime / 1000)
    if (reply.statusCode === 500) errors.inc()
    done()
  })
}
