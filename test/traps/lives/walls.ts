/** Lives of web addresses with something before them: challenges, maintenance, trials, caches, and redirects that look like languages. */
import { BLAME, kind, type LifeRow, MINUTE, NOT_BLAMED, NOT_VERIFIED, UNVERIFIABLE } from './life-row.ts'
import { type Answer, fingerprinted, type Headers, leads, missing, page, row, SHARED, says, signIn } from './web.ts'

const TRUE_PAGE = 'The true page'
const CHALLENGE = '<!DOCTYPE html><title>Just a moment...</title><script>check()</script>'

/** Each a challenge with status 200, as a site may set it up. */
const WALLS: readonly (readonly [name: string, headers: Headers, body?: string])[] = [
  ['Cloudflare', { 'cf-mitigated': 'challenge', server: 'cloudflare', 'cf-ray': '8f02-FRA' }],
  ['AWS WAF', { 'x-amzn-waf-action': 'challenge' }],
  ['Vercel', { 'x-vercel-mitigated': 'challenge', server: 'Vercel' }],
  ['DataDome', { 'x-datadome': 'protected', 'x-dd-b': '1', 'set-cookie': 'datadome=1; Path=/' }],
  ['SiteGround', { 'sg-captcha': 'challenge' }],
  [
    'Imperva',
    { 'x-iinfo': '1-2-0 0NNN RT(1 1) q(0 -1 -1 0) r(0 -1)', 'x-cdn': 'Imperva' },
    '<html><head><META NAME="robots" CONTENT="noindex,nofollow"><script src="/_Incapsula_Resource?SWJIYLWA=1"></script></head><body></body></html>',
  ],
  [
    'Akamai',
    { server: 'AkamaiGHost' },
    '<html><body><div id="sec-if-cpt-container" role="main">Powered and protected by</div></body></html>',
  ],
  [
    'Anubis',
    { 'cache-control': 'no-store' },
    '<!doctype html><html><head><title>Making sure you are not a bot!</title><script id="anubis_challenge" type="application/json">{}</script></head></html>',
  ],
  [
    'testcookie',
    { server: 'openresty' },
    '<html><body><script src="/aes.js"></script><script>function toNumbers(d){for(var i=0;i<d.length;i++);}var a=toNumbers("f6"),b=toNumbers("98"),c=toNumbers("77");document.cookie="__test="+toHex(slowAES.decrypt(c,2,a,b))+"; path=/"; location.href="?i=1";</script><noscript>This site requires JavaScript</noscript></body></html>',
  ],
  [
    'a waiting room',
    { server: 'cloudflare', 'set-cookie': '__cfwaitingroom=a; Path=/', refresh: '20', 'cache-control': 'no-store' },
    '<!DOCTYPE html><html><head><title>Waiting Room powered by Cloudflare</title></head><body>You are now in line.</body></html>',
  ],
  ['Sucuri', { 'x-sucuri-id': '11005' }, "<html><script>var s={},sucuri_cloudproxy_js='',S='YT0';</script></html>"],
]

const forAll = kind('varying answers', UNVERIFIABLE, 'in_time')
const wall = kind('walls', UNVERIFIABLE, 'in_time')
const behind = kind('walls', UNVERIFIABLE, 'never')
const honest = kind('walls')
const lie = kind('walls', BLAME, 'elsewhere')
const old = kind('replicas', NOT_VERIFIED, 'never')
const CONTENT = fingerprinted(TRUE_PAGE)

/** Dated by a clock that is behind. */
const behindBy =
  (ms: number, answer: Answer): Answer =>
  (request, response) => {
    response.setHeader('date', new Date(Date.parse(String(response.getHeader('date'))) - ms).toUTCString())
    answer(request, response)
  }

const walled = ([, headers, body = CHALLENGE]: (typeof WALLS)[number]) => says(200, body, headers)

/** Each answers a page of its own to those who come without a cookie. */
const FOR_SOME: readonly (readonly [name: string, headers: Headers])[] = [
  ['without a validator', {}],
  ['with a cookie', { ...SHARED, 'set-cookie': 'variant=b; Path=/' }],
  ['which varies by Cookie', { ...SHARED, vary: 'Accept-Encoding, Cookie' }],
  ['which varies by User-Agent', { ...SHARED, vary: 'User-Agent' }],
  ['which is private', { etag: '"1"', 'cache-control': 'private, max-age=0' }],
  ['which is not to be stored', { etag: '"1"', 'cache-control': 'no-cache, no-store' }],
]

/** What sites and their hosts put on answers of their own. */
const ORDINARY: readonly (readonly [name: string, headers: Headers])[] = [
  ['a static file', { etag: '"1"', 'last-modified': 'Tue, 10 Mar 2026 10:00:00 GMT', 'accept-ranges': 'bytes' }],
  ['Cloudflare', { server: 'cloudflare', 'cf-ray': '8f02-FRA', 'cf-cache-status': 'DYNAMIC' }],
  [
    'Imperva',
    { 'x-iinfo': '1-2-3 NNNN CT(1 1 0) RT(1 1)', 'x-cdn': 'Imperva', 'set-cookie': 'visid_incap_1=a; Path=/' },
  ],
  ['Akamai', { 'akamai-grn': '0.1', 'set-cookie': '_abck=1; Path=/' }],
  ['DataDome', { 'x-datadome': 'protected', 'set-cookie': 'datadome=1; Path=/' }],
  ['Vercel', { server: 'Vercel', 'x-vercel-id': 'fra1::1', 'x-vercel-cache': 'HIT', age: '3600' }],
  ['Sucuri', { 'x-sucuri-id': '11005', 'x-sucuri-cache': 'HIT' }],
  ['DDoS-Guard', { server: 'ddos-guard', 'set-cookie': '__ddg1_=a; Path=/' }],
  ['cookies of statistics', { 'set-cookie': '_ga=1; Path=/', 'cache-control': 'private, no-store', vary: 'Cookie' }],
  ['Azure', { 'x-cache': 'CONFIG_NOCACHE', 'x-azure-ref': '0x' }],
  ['a waiting room that let everybody in', { 'set-cookie': '__cfwaitingroom=a; Path=/' }],
  ['CloudFront, from a day ago', { 'x-cache': 'Hit from cloudfront', age: '86400' }],
]

const WRITES_ABOUT_IT = `<html><head><script async src="/_Incapsula_Resource?x"></script></head><body><h1>Challenges</h1>
<pre>document.cookie="__test="+toHex(slowAES.decrypt(c,2,a,b))</pre><p>Waiting Room powered by Cloudflare</p>
<p>Walls send cf-mitigated: challenge, sucuri_cloudproxy_js and &lt;div id="sec-if-cpt-container"&gt;.</p></body></html>`

/** What caches say that send no `Age`. */
const COPIES: readonly Headers[] = [
  { 'x-cache': 'HIT' },
  { 'x-cache': 'TCP_REMOTE_HIT' },
  { 'cache-status': 'edge; hit' },
  { 'cf-cache-status': 'STALE' },
  { 'x-nextjs-cache': 'HIT' },
  { 'x-drupal-cache': 'HIT' },
  { 'cdn-cache': 'HIT' },
  { 'x-fastcgi-cache': 'UPDATING' },
  { 'x-cache': 'TCP_REFRESH_FAIL_HIT from a23-1 (AkamaiGHost/22)' },
  { 'x-cache': 'TCP_REFRESH_FAIL_OLD' },
  { 'x-cache': 'TCP_NEGATIVE_HIT' },
  { 'x-cache': 'MISS, HIT' },
  { 'x-cache-hits': '0, 3' },
  { 'x-varnish': '32770 3' },
  { 'x-rack-cache': 'fresh' },
  { 'x-symfony-cache': 'GET /page: fresh' },
  { 'x-symfony-cache': 'stale-while-revalidate' },
  { 'x-magento-cache-debug': 'HIT' },
  { 'server-timing': 'cdn-cache; desc=HIT, edge; dur=1' },
  { warning: '110 - "Response is Stale"' },
  { warning: '199 - "Miscellaneous", 111 cache "Revalidation Failed"' },
  { 'x-nextjs-cache': 'HIT', 'x-nextjs-prerender': '1', 'cache-control': 's-maxage=31536000' },
  // The age is that of the cache before it.
  { 'x-litespeed-cache': 'hit', age: '0' },
]
const NO_COPIES: readonly Headers[] = [
  { 'x-cache': 'Error from cloudfront' },
  { 'x-cache': 'TCP_MISS' },
  { 'cache-status': 'edge; fwd=stale; fwd-status=404' },
  { 'cf-cache-status': 'REVALIDATED' },
  { 'x-nextjs-cache': 'MISS', 'x-cache-hits': '0, 0' },
  { 'cache-control': 'max-age=60, stale-while-revalidate=60' },
  { 'x-cache-key': 'site.example/hit' },
  { 'x-cache': 'TCP_REFRESH_HIT from a23-1 (AkamaiGHost/22)' },
  { 'x-cache': 'RefreshHit from cloudfront' },
  { 'x-cache': 'TCP_EXPIRED_HIT' },
  { 'x-cache': 'hit-for-pass' },
  { 'x-rack-cache': 'stale, valid, store' },
  { 'x-symfony-cache': 'GET /page: miss, store; GET /_fragment: fresh' },
  { 'x-drupal-dynamic-cache': 'HIT' },
  { 'x-drupal-cache': 'MISS', 'x-drupal-dynamic-cache': 'UNCACHEABLE (404, sub-request: HIT)' },
  {
    ...{ 'x-nextjs-cache': 'HIT', 'x-nextjs-prerender': '1' },
    'cache-control': 'private, no-cache, no-store, max-age=0, must-revalidate',
  },
  { 'x-varnish': '32770', 'server-timing': 'cdn-cache; desc=MISS' },
  { warning: '299 - "Deprecated"' },
]

/** Each is shown for a moment, and leads on to another page. */
const STOPOVERS = ['0; url=/sign-in', '0;URL="https://other.example/"', "3, url='/sign-in'", '5 /sign-in']
const NO_STOPOVERS = [
  '0',
  '5; url=/page',
  '0; url=https://www.site.example/page/',
  '30; url=/next',
  'soon; url=/sign-in',
]

const LANGUAGES = ['en', 'de-AT', 'pt-BR', 'zh_Hans', 'zh-Hant-TW', 'es-419']
const NO_LANGUAGES = ['me', 'my', 'is-down', 'to-do', 'sso', 'up', 'ab-test']

/** From each path to the same below a prefix. */
const prefixed =
  (prefix: string, there: Answer = says(200)): Answer =>
  (request, response) =>
    request.url!.startsWith(`/${prefix}`)
      ? there(request, response)
      : response.writeHead(302, { location: `/${prefix}${request.url}` }).end()

export const wallLives: readonly LifeRow[] = [
  ...WALLS.flatMap((given) => [
    row(wall, `the challenge of ${given[0]}, and the claimed content behind it`, (since) =>
      page([since(walled(given))], CONTENT),
    ),
    row(behind, `the challenge of ${given[0]}, and no page behind it`, (since) => page([since(walled(given))])),
    row(wall, `the challenge of ${given[0]}, and a page that is gone behind it`, (since) =>
      page([since(walled(given))], { status: 404 }),
    ),
  ]),
  row(honest, 'a challenge for three minutes', (since) =>
    page([since(walled(WALLS[0]!)), since(says(200, TRUE_PAGE), 3 * MINUTE)], CONTENT),
  ),
  row({ ...behind, right: NOT_BLAMED }, 'a challenge, and then the page is not there', (since) =>
    page([since(walled(WALLS[0]!)), since(missing, 3 * MINUTE)]),
  ),
  row(wall, 'maintenance with 200, over the claimed content', (since) =>
    page([since(says(200, 'Back soon', { ...SHARED, 'retry-after': '3600' }))], CONTENT),
  ),
  row(behind, 'maintenance with 200, claimed to be the page', (since) =>
    page([since(says(200, 'Back soon', { 'retry-after': '3600' }))]),
  ),
  row(honest, 'maintenance with 200 for two minutes', (since) =>
    page([since(says(200, 'Back soon', { 'retry-after': '120' })), since(says(200), 2 * MINUTE)]),
  ),
  row(honest, 'maintenance with 503, as claimed', (since) =>
    page([since(says(503, 'Back soon', { 'retry-after': '3600' }), 0)], { status: 503 }),
  ),
  row(honest, 'an accepted request that asks to wait, as claimed', (since) =>
    page([since(says(202, '', { 'retry-after': '5' }), 0)], { status: 202 }),
  ),

  ...FOR_SOME.flatMap(([name, headers]) => [
    row(forAll, `another content ${name}`, (since) => page([since(says(200, 'Variant B', headers))], CONTENT)),
    row(forAll, `200 where 404 is claimed, ${name}`, (since) =>
      page([since(says(200, 'Variant B', headers))], { status: 404 }),
    ),
    row(honest, `the claimed status ${name}`, (since) => page([since(says(200, 'Variant B', headers), 0)])),
    row(honest, `the claimed content ${name}`, (since) => page([since(says(200, TRUE_PAGE, headers), 0)], CONTENT)),
  ]),
  ...['private', 'no-store, must-revalidate'].map((control) =>
    row(forAll, `a 404 that is ${control}`, (since) => page([since(says(404, '', { 'cache-control': control }))])),
  ),
  ...[{ 'last-modified': 'Tue, 10 Mar 2026 10:00:00 GMT' }, { etag: 'W/"1"', 'cache-control': 'no-cache' }].map(
    (headers) =>
      row(lie, `another content, with ${Object.keys(headers).join(' and ')}`, (since) =>
        page([since(says(200, 'A page', headers as Headers))], CONTENT),
      ),
  ),
  row({ ...lie, truth: 'never' }, 'a 404 that may be stored by all', (since) =>
    page([since(says(404, '', { 'cache-control': 'public, max-age=0' }))]),
  ),

  ...ORDINARY.flatMap(([name, headers]) => [
    row(honest, `the claimed status, with the headers of ${name}`, (since) =>
      page([since(says(200, TRUE_PAGE, headers), 0)]),
    ),
    row(honest, `the claimed content, with the headers of ${name}`, (since) =>
      page([since(says(200, TRUE_PAGE, headers), 0)], CONTENT),
    ),
  ]),
  row(honest, 'a page that writes about walls', (since) => page([since(says(200, WRITES_ABOUT_IT), 0)])),

  row(old, 'a claimed 404 that a cache has kept with its date, and says no more', (since) =>
    page([since(says(404, '', { date: 'Tue, 10 Mar 2026 10:00:00 GMT' }))], { status: 404 }),
  ),
  row(kind('replicas'), 'a claimed 404 by a site whose clock is three minutes behind', (since) =>
    page([since(behindBy(3 * MINUTE, missing), 0)], { status: 404 }),
  ),
  ...[-30, 30].map((seconds) =>
    row(
      kind('clocks of clients', UNVERIFIABLE, 'never'),
      `no such page, and a clock turns from ${-seconds} s ahead`,
      (since) =>
        page([since(behindBy(seconds * 1000, missing)), since(behindBy(-seconds * 1000, missing), 4 * MINUTE)]),
    ),
  ),
  row({ ...lie, truth: 'never' }, 'no such page, by a site whose clock is three minutes behind', (since) =>
    page([since(behindBy(3 * MINUTE, missing))]),
  ),
  ...[{ age: '86400' }, { age: 'old' }, ...COPIES].map((headers) =>
    row(old, `a claimed 404 that a cache has kept, by ${JSON.stringify(headers)}`, (since) =>
      page([since(says(404, '', headers as unknown as Headers))], { status: 404 }),
    ),
  ),
  row(kind('replicas', NOT_BLAMED), 'a 404 that a cache has kept without an age', (since) =>
    page([since(says(404, '', { 'x-cache': 'HIT' }))]),
  ),
  row(kind('replicas'), 'a claimed 404 that a cache keeps for twenty seconds', (since) =>
    page([since(says(404, '', { age: '20', 'x-cache': 'HIT' }), 0)], { status: 404 }),
  ),
  ...NO_COPIES.map((headers) =>
    row(kind('replicas'), `a claimed 404 that no cache has kept, by ${JSON.stringify(headers)}`, (since) =>
      page([since(says(404, '', headers), 0)], { status: 404 }),
    ),
  ),

  ...STOPOVERS.flatMap((refresh) => [
    row(signIn, `a page that leads on by Refresh: ${refresh}`, (since) =>
      page([since(says(200, 'A page', { refresh }))]),
    ),
    row({ ...wall, about: 'redirects' }, `another content, which leads on by Refresh: ${refresh}`, (since) =>
      page([since(says(200, 'A page', { ...SHARED, refresh }))], CONTENT),
    ),
    row(kind('redirects'), `the claimed content, which leads on by Refresh: ${refresh}`, (since) =>
      page([since(says(200, TRUE_PAGE, { refresh }), 0)], CONTENT),
    ),
  ]),
  ...NO_STOPOVERS.map((refresh) =>
    row(kind('redirects'), `a page that stays, with Refresh: ${refresh}`, (since) =>
      page([since(says(200, 'A page', { refresh }), 0)]),
    ),
  ),
  row(kind('redirects'), 'a page that stays, with 12,000 digits in its Refresh', (since) =>
    page([since(says(200, 'A page', { refresh: '1'.repeat(12_000) }), 0)]),
  ),
  row(kind('redirects'), 'a page that is gone, and leads home', (since) =>
    page([since(says(404, '', { refresh: '3; url=/' }), 0)], { status: 404 }),
  ),

  ...LANGUAGES.map((language) =>
    row(kind('redirects'), `to the language ${language}`, (since) => page([since(leads(302, `/${language}/page`), 0)])),
  ),
  ...NO_LANGUAGES.flatMap((word) => [
    row(signIn, `to /${word}/page, claimed to be the page`, (since) => page([since(leads(302, `/${word}/page`))])),
    row(signIn, `from the root to /${word}`, (since) =>
      page(
        [since((request, response) => (request.url === '/' ? leadTo(`/${word}`) : says(200))(request, response))],
        {},
        {
          target: 'https://site.example/',
        },
      ),
    ),
  ]),
  row(kind('redirects'), 'from every path to its country', (since) => page([since(prefixed('us'), 0)])),
  row(kind('redirects'), 'from every path to its country, at the root', (since) =>
    page([since(prefixed('uk'), 0)], {}, { target: 'https://site.example/' }),
  ),
  row(signIn, 'from every path to the sign-in before it', (since) => page([since(prefixed('login'))])),
  row({ ...forAll, about: 'redirects' }, 'to a language without the page, which others may have', (since) =>
    page([since(leads(302, '/de/page', missing))]),
  ),
]

function leadTo(location: string): Answer {
  return (_, response) => response.writeHead(302, { location }).end()
}
