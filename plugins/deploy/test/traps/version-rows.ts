/** Claims of what a program answers as its version: behind caches, by nodes of two versions, in text and in JSON, and where nothing is answered. */

import type { Answer, Asked } from '../../../../test/traps/scripted-server.ts'
import { START } from '../../../../test/traps/verifier-table.ts'
import {
  DAY,
  FAILED_MAYBE,
  HOUR,
  instead,
  MINUTE,
  NOT_DONE,
  OTHER,
  OTHER_MAYBE,
  OTHER_UNTOLD,
  type Row,
  rowsOf,
  SECOND,
  TRUE,
  TRUE_MAYBE,
  TRUE_UNTOLD,
  UNTOLD,
  VERSION_URL,
} from './row.ts'
import { DOWN, EMPTY, SIGN_IN } from './troubles.ts'

const row = rowsOf('version_endpoint')
const VERSION = '4.12.0'
const OLD = '4.11.3'
type Headers = Readonly<Record<string, string>>

const text = (body: string, headers: Headers = {}): Answer => ({
  status: 200,
  body,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
})
const json = (body: unknown, headers: Headers = {}): Answer =>
  text(JSON.stringify(body), { 'content-type': 'application/json', ...headers })
/** The same answer at any time. */
const always = (answer: Answer) => () => answer
/** Another answer from some time on. */
const from =
  (afterMs: number, before: Answer, after: Answer) =>
  ({ now }: Asked) =>
    now < START + afterMs ? before : after
/** Answers of two nodes in turn. */
function inTurn(...answers: readonly Answer[]) {
  let count = 0
  return () => answers[count++ % answers.length]!
}
const plain = { version: VERSION }
const at = (pointer: string, version = VERSION) => ({ version, pointer })
const PAGE: Answer = {
  status: 200,
  body: `<!doctype html><html><head><title>Shop ${VERSION}</title></head><body><div id="root"></div></body></html>`,
}
const MISSING: Answer = { status: 404, body: '<!doctype html><html><body>Not found</body></html>' }

const HONEST: readonly Row[] = [
  ...(
    [
      ['as text', text(VERSION)],
      ['with a line end', text(`${VERSION}\n`)],
      ['with white space around it', text(`  ${VERSION} \r\n`)],
      ['without a type', { status: 200, body: VERSION, headers: { 'content-type': '' } }],
      ['from a cache, a few seconds old', text(VERSION, { age: '7', 'cache-control': 'max-age=60' })],
    ] satisfies readonly (readonly [string, Answer])[]
  ).map(([title, answer]) =>
    row(TRUE, title, 'the text without the space around it is the version', () => ({
      version: always(answer),
      params: plain,
      facts: { self_reported: true },
    })),
  ),
  ...(
    [
      ['in JSON', '/version', { version: VERSION }],
      ['deeper in JSON', '/build/info/version', { build: { info: { version: VERSION } } }],
      ['in a list', '/1/version', [{ version: OLD }, { version: VERSION }]],
      ['at a name with a slash', '/app~1shop/version', { 'app/shop': { version: VERSION } }],
      ['at a name with a tilde', '/~0v', { '~v': VERSION }],
      ['at a name without letters', '/', { '': VERSION }],
      ['at a name of digits', '/0', { 0: VERSION }],
      ['at a name with spaces', '/the version', { 'the version': VERSION }],
    ] as const
  ).map(([title, pointer, body]) =>
    row(['in time', 'verified', 'refused'], title, 'RFC 6901 has pointers', () => ({
      version: always(json(body)),
      params: at(pointer),
    })),
  ),
  row(TRUE, 'in JSON of another type', 'RFC 6839: +json is JSON', () => ({
    version: always(json({ version: VERSION }, { 'content-type': 'application/vnd.acme.health+json' })),
    params: at('/version'),
  })),
  row(TRUE, 'in JSON, beside much else', 'only what is pointed at counts', () => ({
    version: always(json({ name: 'shop', versions: [OLD], previous: OLD, version: VERSION, description: OLD })),
    params: at('/version'),
  })),
  row(TRUE_UNTOLD, 'in JSON as a number with a zero behind its point', 'readers of JSON take 2.0 for 2', () => ({
    version: always(text('{"version": 2.0}', { 'content-type': 'application/json' })),
    params: at('/version', '2.0'),
  })),
  row(TRUE_MAYBE, 'in JSON as a number', 'a number has a text', () => ({
    version: always(json({ build: 412 })),
    params: at('/build', '412'),
  })),
  row(TRUE_MAYBE, 'in JSON behind a byte order mark', 'RFC 8259 8.1: a reader may ignore one', () => ({
    version: always(text(`\ufeff${JSON.stringify({ version: VERSION })}`, { 'content-type': 'application/json' })),
    params: at('/version'),
  })),
  row(TRUE_MAYBE, 'in JSON that is given to those who ask for it', 'RFC 9110 12.5.1: Accept chooses', () => ({
    version: ({ headers }) =>
      /json/.test(headers.accept ?? '')
        ? json({ version: VERSION }, { vary: 'Accept' })
        : { ...PAGE, headers: { vary: 'Accept' } },
    params: at('/version'),
  })),
  row(TRUE_MAYBE, 'behind a redirect within the site', 'it is the same site', () => ({
    version: ({ path }) =>
      path === '/version' ? { status: 308, body: '', headers: { location: '/version/' } } : text(VERSION),
    params: plain,
  })),
  row(TRUE_MAYBE, 'by one of two nodes', 'it answers so, and not always', () => ({
    version: inTurn(text(OLD), text(VERSION)),
    params: plain,
  })),
  row(TRUE_MAYBE, 'by most of many nodes', 'it answers so, and not always', () => ({
    version: inTurn(text(VERSION), text(VERSION), text(OLD)),
    params: plain,
  })),
  row(TRUE, 'by one node after the other, for two minutes', 'in the end all do', () => ({
    version: ({ now }) => text(now < START + 2 * MINUTE && Math.floor(now / 9000) % 2 ? OLD : VERSION),
    params: plain,
  })),
  row(TRUE, 'after a minute and a half', 'it came within the tolerance', () => ({
    version: from(90 * SECOND, text(OLD), text(VERSION)),
    params: plain,
  })),
  row(TRUE, 'as the service starts for a minute', 'a 503 is no answer', () => ({
    version: from(MINUTE, DOWN, text(VERSION)),
    params: plain,
  })),
  row(TRUE, 'after a cache has let the old one go', 'Age says that it was a copy', () => ({
    version: ({ now }) =>
      now < START + 2 * MINUTE
        ? text(OLD, { age: String(Math.floor((now - START) / 1000) + 200), 'cache-control': 'max-age=320' })
        : text(VERSION, { age: '0' }),
    params: plain,
  })),
  row(TRUE, 'rolled back after three minutes', 'it was seen before', () => ({
    version: from(3 * MINUTE, text(VERSION), text(OLD)),
    params: plain,
  })),
  row(TRUE_MAYBE, 'for a week already', 'the claim says that it answers so', () => ({
    version: always(text(VERSION)),
    params: plain,
  })),
  row(TRUE_MAYBE, 'submitted after half an hour', 'nothing says since when', () => ({
    version: always(text(VERSION)),
    params: plain,
    submittedMs: 30 * MINUTE,
  })),
  row(TRUE_MAYBE, 'from a cache, an hour old', 'it is what the address answers', () => ({
    version: always(text(VERSION, { age: '3600' })),
    params: plain,
  })),
  row(['late', 'late', 'unverifiable'], 'after 14 minutes', 'the looks before showed the old one', () => ({
    version: from(14 * MINUTE, text(OLD), text(VERSION)),
    params: plain,
    deadlineMs: HOUR,
  })),
  row(
    ['late', 'late', 'unverifiable'],
    'after 14 minutes, and nothing before',
    'the looks before found no page',
    () => ({
      version: from(14 * MINUTE, MISSING, text(VERSION)),
      params: plain,
      deadlineMs: HOUR,
    }),
  ),
]

const FALSE: readonly Row[] = [
  row(OTHER, 'the old one, as text', 'it answers another version', () => ({
    version: always(text(OLD)),
    params: plain,
  })),
  row(OTHER, 'the old one, in JSON', 'it answers another version', () => ({
    version: always(json({ version: OLD })),
    params: at('/version'),
  })),
  ...[
    `v${VERSION}`,
    `${VERSION}-rc1`,
    `${VERSION}+7`,
    `${VERSION}0`,
    '4.12',
    `shop ${VERSION}`,
    `${VERSION}\n${OLD}`,
  ].map((told) =>
    row(OTHER_MAYBE, `${JSON.stringify(told)}`, 'a version is compared as it is', () => ({
      version: always(text(told)),
      params: plain,
    })),
  ),
  row(OTHER_MAYBE, 'the claimed one elsewhere in JSON', 'only what is pointed at counts', () => ({
    version: always(json({ version: OLD, next: VERSION, versions: [VERSION] })),
    params: at('/version'),
  })),
  row(OTHER_MAYBE, 'JSON, where text is claimed', 'without a pointer the whole text counts', () => ({
    version: always(json({ version: VERSION })),
    params: plain,
  })),
  row(OTHER_UNTOLD, 'twice in JSON, the claimed one first', 'RFC 8259 4: names should be unique', () => ({
    version: always(text(`{"version":"${VERSION}","version":"${OLD}"}`, { 'content-type': 'application/json' })),
    params: at('/version'),
  })),
  ...(
    [
      ['/constructor/name', 'Object', {}],
      ['/__proto__/constructor/name', 'Object', {}],
      ['/toString/name', 'toString', {}],
      ['/versions/length', '2', { versions: [OLD, VERSION] }],
      ['/versions/-', VERSION, { versions: [OLD, VERSION] }],
      ['/versions/01', VERSION, { versions: [OLD, VERSION] }],
      ['/versions/-1', VERSION, { versions: [OLD, VERSION] }],
      ['/version/0', '4', { version: VERSION }],
      ['/version', '[object Object]', { version: {} }],
      ['/version', 'null', { version: null }],
      ['/version', VERSION, { version: [VERSION] }],
      ['/Version', VERSION, { version: VERSION }],
      ['/version', VERSION, { data: { version: VERSION } }],
      ['/version', VERSION, {}],
    ] as const
  ).map(([pointer, version, body]) =>
    row(
      ['never', 'failed', 'unverifiable', 'refused'],
      `${pointer} of ${JSON.stringify(body)}, claimed as ${version}`,
      'RFC 6901: a pointer leads to members and elements alone',
      () => ({
        version: always(json(body)),
        params: at(pointer, version),
      }),
    ),
  ),
  row(FAILED_MAYBE, 'no page', 'a 404 answers no version', () => ({ version: always(MISSING), params: plain })),
  row(FAILED_MAYBE, 'a page that was taken away', 'a 410 answers no version', () => ({
    version: always({ ...MISSING, status: 410 }),
    params: plain,
  })),
  row(
    ['other', 'unverifiable', 'mismatch', 'failed'],
    'the page of the app, which has the version in its title',
    'apps answer 200 for any address',
    () => ({ version: always(PAGE), params: plain }),
  ),
  row(
    ['never', 'unverifiable', 'failed'],
    'the page of the app, where JSON is claimed',
    'apps answer 200 for any address',
    () => ({ version: always(PAGE), params: at('/version') }),
  ),
  row(['never', 'unverifiable', 'failed'], 'an error with the version in it', 'a 500 is no answer', () => ({
    version: always({ ...text(VERSION), status: 500 }),
    params: plain,
  })),
  row(['never', 'unverifiable', 'failed'], 'a missing page with the version in it', 'a 404 answers no version', () => ({
    version: always({ ...text(VERSION), status: 404 }),
    params: plain,
  })),
  row(
    ['never', 'unverifiable', 'failed', 'refused'],
    'another site that has it, to which this one leads',
    'redirects are not followed elsewhere',
    () => ({
      version: ({ headers }) =>
        /other/.test(headers.host ?? '')
          ? text(VERSION)
          : { status: 302, body: '', headers: { location: 'https://other.example/version' } },
      params: plain,
    }),
  ),
  row(['other', 'unverifiable', 'mismatch', 'failed'], 'the body of a redirect', 'a redirect is no answer', () => ({
    version: always({
      ...text(VERSION),
      status: 302,
      headers: { location: 'https://other.example/version', 'content-type': 'text/plain' },
    }),
    params: plain,
  })),
  row(
    ['other', 'unverifiable', 'mismatch', 'failed'],
    'the old one, submitted after 20 minutes',
    'it may have answered so before',
    () => ({ version: always(text(OLD)), params: plain, submittedMs: 20 * MINUTE }),
  ),
  ...[
    'http://shop.acme.example/version',
    'shop.acme.example/version',
    `${VERSION_URL}#4.12.0`,
    'https://user:pass@shop.acme.example/version',
    'https://shop.acme.example/x/../version',
  ].map((target) =>
    row(
      ['never', 'refused', 'unverifiable', 'failed'],
      `the target ${target}`,
      'it is no plain address of a site with TLS',
      () => ({ version: always(text(OLD)), params: plain, target }),
    ),
  ),
  ...['version', '/version~2', '#/version'].map((pointer) =>
    row(
      UNTOLD,
      `the pointer ${pointer}`,
      'RFC 6901: a pointer begins with a slash, and a tilde is followed by 0 or 1',
      () => ({ version: always(json({ version: OLD })), params: at(pointer) }),
    ),
  ),
  ...['', ' ', `${VERSION} `, `${VERSION}\n`].map((version) =>
    row(
      ['never', 'refused', 'unverifiable', 'failed'],
      `${JSON.stringify(version)} is claimed, and nothing answered`,
      'an empty text is no version',
      () => ({ version: always(text('')), params: { version } }),
    ),
  ),
]

const HIDDEN: readonly Row[] = [
  ...(
    [
      ['rolled back', text(OLD)],
      ['gone', MISSING],
    ] satisfies readonly (readonly [string, Answer])[]
  ).map(([title, answer]) =>
    row(TRUE_UNTOLD, `${title} after three minutes, submitted after eight`, 'it answered so in time', () => ({
      version: from(3 * MINUTE, text(VERSION), answer),
      params: plain,
      submittedMs: 8 * MINUTE,
    })),
  ),
  row(TRUE_UNTOLD, 'rolled back after three minutes, while it could not be reached', 'it answered so in time', () => ({
    version: from(3 * MINUTE, text(VERSION), text(OLD)),
    params: plain,
    instead: instead(DOWN, { untilMs: 5 * MINUTE }),
  })),
  row(
    ['in time', 'unverifiable', 'mismatch', 'failed'],
    'rolled back before the first look',
    'what came and went between reads leaves no trace',
    () => ({ version: from(500, text(VERSION), text(OLD)), params: plain }),
  ),
  ...(
    [
      ['Age', { age: '7200' }],
      ['X-Cache', { 'x-cache': 'HIT', 'cache-control': 'public, max-age=86400' }],
      ['CF-Cache-Status', { 'cf-cache-status': 'HIT', age: '5400' }],
      ['Warning', { warning: '110 - "Response is Stale"' }],
    ] as const
  ).map(([title, headers]) =>
    row(TRUE_UNTOLD, `a cache that goes on with the old one, as ${title} says`, 'a copy shows no absence', () => ({
      version: always(text(OLD, headers)),
      params: plain,
    })),
  ),
  ...(
    [
      [DOWN, 'an error'],
      [{ ...DOWN, status: 502 }, 'a gateway without a service'],
      [{ status: 429, body: 'Too many requests', headers: { 'retry-after': '60' } }, 'too many requests'],
      [
        { status: 401, body: 'Unauthorized', headers: { 'www-authenticate': 'Basic realm="ops"' } },
        'a password that is asked for',
      ],
      [{ status: 403, body: '<html><body>Forbidden</body></html>' }, 'a refusal'],
      [
        {
          status: 403,
          body: '<html><head><title>Just a moment...</title></head></html>',
          headers: { server: 'cloudflare', 'cf-mitigated': 'challenge' },
        },
        'a challenge to robots',
      ],
    ] satisfies readonly (readonly [Answer, string])[]
  ).flatMap(([answer, what]) => [
    row(TRUE_UNTOLD, `it answers so to others, and here ${what}`, 'it tells neither presence nor absence', () => ({
      version: always(text(VERSION)),
      params: plain,
      instead: instead(answer),
    })),
    row(NOT_DONE, `it never answered so, and here ${what}`, 'it tells neither presence nor absence', () => ({
      version: always(text(OLD)),
      params: plain,
      instead: instead(answer),
    })),
  ]),
  ...([SIGN_IN, EMPTY] as const).map((answer, index) =>
    row(
      TRUE_UNTOLD,
      `in JSON to others, and here ${index ? 'an empty object' : 'a page to sign in'} before and after`,
      'what stands between answers for it',
      () => ({
        version: always(json({ version: VERSION })),
        params: at('/version'),
        submittedMs: 8 * MINUTE,
        instead: instead(answer, { fromMs: -DAY }),
      }),
    ),
  ),
]

export const VERSION_ROWS: readonly Row[] = [...HONEST, ...FALSE, ...HIDDEN]
