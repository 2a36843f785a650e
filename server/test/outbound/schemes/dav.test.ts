// Test run: every-node
/** Declared methods of WebDAV: at Apache's mod_dav, and against plugins that want to send more. Threat P9 of `security.md`. */
import { davProblem } from '@claimcheck/core/hosting'
import type { DavMethod } from '@claimcheck/core/plugin'
import t, { type Test } from 'tap'
import { findProgram } from '../../../../test/support/programs.ts'
import { NO_APACHE, startApache } from '../../support/apache.ts'
import { code, serve } from '../../support/loopback.ts'
import { spendingAt } from '../../support/spending.ts'

const LIST: DavMethod = {
  name: 'list',
  method: 'PROPFIND',
  path: '/*',
  depth: '1',
  body: '<?xml version="1.0" encoding="utf-8"?><d:propfind xmlns:d="DAV:"><d:prop><d:getetag/></d:prop></d:propfind>',
}
const CHANGES: DavMethod = {
  name: 'changes',
  method: 'REPORT',
  path: '/calendars/me',
  depth: '0',
  body: '<c:query xmlns:c="urn:c"><c:range start="{since}"/><c:text>{text}</c:text></c:query>',
}

t.test("Apache's mod_dav", { skip: NO_APACHE }, async (t) => {
  const { url } = await startApache(t, findProgram('apache2')!)
  const check = spendingAt(t, { url: `${url}/dav`, credentials: {}, methods: { dav: [LIST] } })()
  const response = await check.fetch(`${url}/dav/`, { call: { dav: 'list' } })
  t.equal(response.status, 207)
  t.match(await response.text(), /<D:href>\/dav\/note\.txt<\/D:href>[\s\S]*getetag/)
})

async function recording(t: Test) {
  const arrived: { method: string; url: string; depth: unknown; type: unknown; body: string }[] = []
  const host = await serve(t, async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { method, url, headers } = request
    arrived.push({ method: method!, url: url!, depth: headers.depth, type: headers['content-type'], body })
    response.writeHead(207).end('<ok/>')
  })
  const check = spendingAt(t, { url: `http://${host}/dav/`, credentials: {}, methods: { dav: [LIST, CHANGES] } })
  return { url: `http://${host}/dav`, check, arrived }
}

t.test('parameters stand escaped in the places of the declared body', async (t) => {
  const { url, check, arrived } = await recording(t)
  const parameters = { since: '"/><c:delete/><c:range start="', text: "]]></c:text><!-- & 'ä' {since}" }
  await check().fetch(`${url}/calendars/me`, {
    call: { dav: 'changes', parameters },
    headers: { depth: 'infinity', 'content-type': 'text/plain' },
  })
  t.match(arrived[0], {
    method: 'REPORT',
    url: '/dav/calendars/me',
    depth: '0',
    type: 'application/xml; charset=utf-8',
  })
  t.equal(
    arrived[0]!.body,
    '<c:query xmlns:c="urn:c"><c:range start="&quot;/&gt;&lt;c:delete/&gt;&lt;c:range start=&quot;"/><c:text>]]&gt;&lt;/c:text&gt;&lt;!-- &amp; &apos;ä&apos; {since}</c:text></c:query>',
  )
})

const given = { since: '1', text: 'a' }
const refused: [what: string, path: string, call: object, init?: object][] = [
  ['a method that is not declared', '/calendars/me', { dav: 'delete' }],
  ['a method by the name of what every object has', '/', { dav: 'constructor' }],
  ['another path', '/calendars/you', { dav: 'changes', parameters: given }],
  ['a path below one that is declared alone', '/calendars/me/x', { dav: 'changes', parameters: given }],
  ['a path outside the base address', 'other', { dav: 'list' }],
  ['a query', '/?method=DELETE', { dav: 'list' }],
  ['a parameter that is missing', '/calendars/me', { dav: 'changes', parameters: { since: '1' } }],
  ['a parameter of no place', '/calendars/me', { dav: 'changes', parameters: { ...given, other: '1' } }],
  ['a parameter that is no text', '/calendars/me', { dav: 'changes', parameters: { ...given, text: ['<x/>'] } }],
  ['a parameter that XML cannot hold', '/calendars/me', { dav: 'changes', parameters: { ...given, text: 'a\u0000' } }],
  [
    'a parameter that is too long',
    '/calendars/me',
    { dav: 'changes', parameters: { ...given, text: 'a'.repeat(5000) } },
  ],
  ['another method', '/', { dav: 'list' }, { method: 'MKCOL' }],
]
for (const [what, path, call, init = {}] of refused) {
  t.test(`nothing is sent for ${what}`, async (t) => {
    const { url, check, arrived } = await recording(t)
    const asked = check()
    t.equal(await code(asked.fetch(url + path, { ...init, call } as never)), 'breach')
    t.ok(asked.breach())
    t.strictSame(arrived, [])
  })
}

for (const body of [
  '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
  '<a><!-- {x} --></a>',
  '<a><![CDATA[{x}]]></a>',
  '<?php {x} ?><a/>',
  '<{x}/>',
  '<a {x}="1"/>',
  '<a b={x}/>',
]) {
  t.test(`a body has no place where a value is more than a value: ${body}`, async (t) => {
    t.type(davProblem({ body }), 'string')
  })
}

t.test('bodies in order have no problem', async (t) => {
  for (const { body } of [LIST, CHANGES, { body: `<a b='{x}' c="{y}">{z} and {x}<d/>{y}</a>` }])
    t.equal(davProblem({ body }), undefined)
})
