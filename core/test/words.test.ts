/** How names and texts of others are shown. */
import { withPunycode } from '@claimcheck/core/words/look-alikes'
import { firstUnseen, visible, visibleJson, visibleName } from '@claimcheck/core/words/plain-text'
import { sourceWords } from '@claimcheck/core/words/sources'
import t from 'tap'

t.test('what is not seen is written out, and what emoji and scripts need stays', async (t) => {
  t.equal(visible('a\u202eb\u200b\u0000\u00a0\u{e0041}\ud800'), 'a<U+202E>b<U+200B><U+0000><U+00A0><U+E0041><U+D800>')
  const whole = [
    'release bot',
    '\u0646\u0633\u062e\u0647\u200c\u0633\u0627\u0632',
    '\u0915\u094d\u200d\u0937',
    '\u{1f469}\u{1f3fd}\u200d\u{1f4bb}',
    '\u2764\ufe0f',
    '\u{1f3f3}\ufe0f\u200d\u{1f308}',
    '\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}',
    '1\ufe0f\u20e3',
  ]
  for (const text of whole) {
    t.equal(visible(text), text)
    t.equal(firstUnseen(text), undefined)
  }
  for (const text of [
    'a\u200cb',
    'a\ufe0f',
    '\u0915\u200d\u0937',
    '\u{1f916}\u200d',
    '\u{1f3f4}\u{e0067}\u{e007f}',
    '\u0646\u200ca',
  ]) {
    t.ok(firstUnseen(text), JSON.stringify(text))
  }
  t.strictSame(firstUnseen('\u{1f916}a\u2066'), { character: '\u2066', position: 3 })
})

t.test('blanks that a page would swallow are written in names', async (t) => {
  t.equal(visibleName(' a  b c '), '<U+0020>a <U+0020>b c<U+0020>')
  t.equal(visible(' a  b '), ' a  b ')
})

t.test('JSON stays the same value', async (t) => {
  const value = { 'k\u202e': 'v\u2066\u{e0001}\u00a0 \u2028\ufeff' }
  for (const indent of [0, 2]) {
    const json = visibleJson(JSON.stringify(value, null, indent))
    t.match(json, /^[\n\x20-\x7e]+$/)
    t.strictSame(JSON.parse(json), value)
  }
})

t.test('punycode is beside what mixes scripts or looks like ASCII', async (t) => {
  const shown: readonly (readonly [name: string, shown: string])[] = [
    ['release-bot', 'release-bot'],
    ['r\u0435lease-bot', 'r\u0435lease-bot (xn--rlease-bot-ksi)'],
    ['https://\u0430pple.com/x', 'https://\u0430pple.com/x (xn--pple-43d)'],
    ['\u0430\u0440\u0440\u04cf\u0435', '\u0430\u0440\u0440\u04cf\u0435 (xn--80ak6aa92e)'],
    ['\u0430gent and \u0430gent', '\u0430gent and \u0430gent (xn--gent-43d)'],
    ['\uff41gent', '\uff41gent (U+FF41)'],
    ['\u0261ithub.com', '\u0261ithub.com (xn--ithub-qmc)'],
    ['\u13a1\u13a2', '\u13a1\u13a2 (xn--68dc)'],
  ]
  for (const [name, words] of shown) t.equal(withPunycode(name), words)
  const honest = [
    '\u0430\u0433\u0435\u043d\u0442',
    'M\u00fcller',
    '\u65e5\u672c\u8a9e-bot',
    '\u05e1\u05d5\u05db\u05df',
    '\ub9b4\ub9ac\uc2a4 bot',
    '\u0646\u0633\u062e\u0647\u200c\u0633\u0627\u0632',
    '\u{1f916}',
  ]
  for (const name of honest) t.equal(withPunycode(name), name)
  t.equal(
    sourceWords({ provider: 'git', listed: false, base_url: 'https://g\u0456t.example' }),
    'a server that the issuer does not list, chosen by the workspace or by the issuer: https://g\u0456t.example (xn--gt-hoc)',
  )
})
