/** Recognizes answers that a cache has kept, so that they do not tell how the site answers now. */

/** The words of one kind of cache. The first kind whose header an answer has reads that header. */
interface Cache {
  readonly header: RegExp
  /** Says that the answer is a kept copy that was not compared with the site; undefined if this header never says so. */
  readonly copy: RegExp | undefined
  /** Tells that this cache adds no `Age`, so that one beside it is of another cache, which cannot know how old this copy is. */
  readonly isAgeless?: true
  /** Says in `Cache-Control` that the answer was made now, although the page that it shows was kept. */
  readonly unless?: RegExp
}

/**
 * Words for copies that most caches share. A copy that the site has just confirmed is none: `TCP_REFRESH_HIT` (Squid, Akamai), `RefreshHit`
 * (CloudFront), `REVALIDATED` (nginx, Cloudflare) and `TCP_EXPIRED_HIT` (docs.edg.io/applications/v7/performance/caching/cache_status_codes).
 */
const COPY = /(?<![a-z])(?<!refresh_|expired_)hit(?![a-z]|-for-)|^(?:stale|updating)$|(?<![a-z])ref(?:resh)?_fail/

/** Each as its maker documents it, or its program shows. */
const CACHES: readonly Cache[] = [
  // RFC 7234 5.5: stale, not revalidated, disconnected, older than a day by a guess.
  { header: /^warning$/, copy: /(?:^|,)\s*11[0-3]\b/ },
  // Drupal never keeps errors so, and finds what to show anew for each request (drupal.org/node/3584640).
  { header: /^x-drupal-dynamic-cache$/, copy: undefined },
  // The page of a missing address is built before, and shown with `no-store`. A kept answer may be stored.
  { header: /^x-nextjs-cache$/, copy: /^(?:hit|stale)$/, isAgeless: true, unless: /\bno-store\b/ },
  // The traces of Rack::Cache and Symfony, which begin with the first thing that was done.
  { header: /^x-(?:rack|symfony)-cache$/, copy: /^(?:[a-z]+ [^;]*?: )?(?:fresh\b|stale-)/ },
  { header: /^x-(?:drupal|litespeed|kinsta|fastcgi)-cache$/, copy: COPY, isAgeless: true },
  // Akamai's mPulse says so beside its times.
  { header: /^server-timing$/, copy: /\bcdn-cache\s*;\s*desc\s*=\s*"?hit\b/ },
  // Batcache of WordPress
  { header: /^x-nananana$/, copy: /\bbatcache-hit\b/ },
  // Two numbers: those of this request, and of the one for which it was stored.
  { header: /^x-varnish$/, copy: /\d \d/ },
  // Varnish, Fastly: how often each cache used its copy (fastly.com/documentation/reference/http/http-headers/X-Cache-Hits).
  { header: /(?:cache|varnish)-hits?$/, copy: /(?:^|[\s,])(?:[1-9]\d*|true|yes|hit)(?![\w.])/ },
  // All others by any name, such as `X-Cache: TCP_HIT` (Squid, Akamai, Azure), `Cache-Status: edge; hit` (RFC 9211), and nginx.
  { header: /cache(?:-(?:status|lookup|remote|debug))?$/, copy: COPY },
]

/** Reads the ages in the `Age` header, one of each cache, in seconds. One that cannot be read is infinite. */
export function agesOf(headers: Headers): readonly number[] {
  const text = headers.get('age')
  return text === null ? [] : text.split(',').map((age) => (/^\s*\d{1,9}\s*$/.test(age) ? Number(age) : Infinity))
}

/** Tells whether a cache has kept an answer for longer than `mostS` seconds, or for a time that nothing tells. */
export function isOldCopy(headers: Headers, mostS: number): boolean {
  const ages = agesOf(headers)
  // A copy of a copy is older than the age that each of the two caches knows.
  if (ages.length > 1 || ages.some((age) => age > mostS)) return true
  return [...headers].some(([name, value]) => {
    const cache = CACHES.find(({ header }) => header.test(name))
    if (!cache?.copy?.test(value.toLowerCase()) || (ages.length > 0 && !cache.isAgeless)) return false
    return !cache.unless?.test(headers.get('cache-control') ?? '')
  })
}
