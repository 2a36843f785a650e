/** Sentences from plain-data templates. */
import { claimSentence, factSentences, outcomeSentence, type Sentence, type Words } from '@claimcheck/core/receipts'
import t from 'tap'

const SHA = '0123456789abcdef0123456789abcdef01234567'
const words: Words = {
  title: 'Push',
  target: 'Repository',
  claim: ['{sha:short} was pushed to {branch} by {pusher}.', '{sha:short} was pushed to {branch}.'],
  outcomes: {
    verified: '{sha} is on {branch}.',
    late: 'It came late.',
    mismatch: ['{sha:short} is on {found_on}, not on {branch}.', '{sha:short} is not on {branch}.'],
    failed: '{sha:short} is not in {target}.',
  },
  facts: {
    forced: { true: 'It was forced.', false: 'It was not forced.' },
    repository: 'It is now called {repository}.',
    commits: 'It has {commits} commits.',
    state: { open: 'It is open.', merged: ['It was merged by {pusher}.', 'It was merged.'] },
  },
}
const profile = { words }
const with_ = (sentence: Sentence) => ({ words: { ...words, claim: sentence } })
const params = { sha: SHA, branch: 'main' }
const target = 'acme/app'

const templates: [
  what: string,
  sentence: Sentence,
  params: Parameters<typeof claimSentence>[1]['params'],
  text: string,
][] = [
  ['names are replaced', '{sha} is on {branch}.', params, `${SHA} is on main.`],
  ['a short name has twelve characters', '{sha:short} is there.', params, `${SHA.slice(0, 12)} is there.`],
  ['a short text stays whole', '{branch:short} is there.', params, 'main is there.'],
  ['the target is a name', 'See {target}.', {}, 'See acme/app.'],
  ['a param goes before the target', 'See {target}.', { target: 'other' }, 'See other.'],
  ['a name stands there twice', '{branch} is {branch}.', params, 'main is main.'],
  [
    'the first template counts whose names have values',
    ['{pusher} did.', '{branch} is.', 'It is.'],
    params,
    'main is.',
  ],
  ['integers and booleans are values', '{n} and {is}.', { n: 0, is: false }, '0 and false.'],
  ['an empty text is a value', 'A{none}.', { none: '' }, 'A.'],
  ['what has no value leaves the title', '{pusher} did.', params, 'Push'],
  ['null is no value', '{branch} is.', { branch: null }, 'Push'],
  ['a list is no value', '{branch} is.', { branch: ['main'] }, 'Push'],
  ['an object is no value', '{branch} is.', { branch: { name: 'main' } }, 'Push'],
  ['what objects inherit is no value', '{constructor} is.', {}, 'Push'],
  ['what stands in a value is not replaced', '{branch} is.', { branch: '{sha}', sha: SHA }, '{sha} is.'],
  ['what a replacement would mean in JavaScript stays text', '{branch} is.', { branch: '$& $1' }, '$& $1 is.'],
  ['other braces stay as they are', 'A {Sha} {sha:long} { sha }.', params, 'A {Sha} {sha:long} { sha }.'],
  ['no template at all leaves the title', [], params, 'Push'],
]
for (const [what, sentence, given, text] of templates) {
  t.test(`in a sentence ${what}`, async (t) => {
    t.equal(claimSentence(with_(sentence), { target, params: given }), text)
  })
}

t.test('a fact goes before a param of the same name', async (t) => {
  const told = outcomeSentence(profile, 'verified', { target, params, facts: { branch: 'trunk' } })
  t.equal(told, `${SHA} is on trunk.`)
})

t.test('each outcome has its sentence, and unverifiable has none', async (t) => {
  const short = SHA.slice(0, 12)
  const told = (verdict: Parameters<typeof outcomeSentence>[1], facts = {}) =>
    outcomeSentence(profile, verdict, { target, params, facts })
  t.equal(told('late'), 'It came late.')
  t.equal(told('mismatch', { found_on: 'dev' }), `${short} is on dev, not on main.`)
  t.equal(told('mismatch'), `${short} is not on main.`)
  t.equal(told('failed'), `${short} is not in acme/app.`)
  t.equal(told('unverifiable'), undefined)
})

t.test('facts say their sentences in the order of the words, and only where they have one', async (t) => {
  const told = (facts: Parameters<typeof claimSentence>[1]['params']) =>
    factSentences(profile, { target, params, facts })
  t.strictSame(told({ commits: 2, forced: true, branch: 'main' }), ['It was forced.', 'It has 2 commits.'])
  t.strictSame(told({ forced: false }), ['It was not forced.'])
  t.strictSame(told({ repository: target }), [], 'a fact that equals the target says nothing')
  t.strictSame(told({ repository: 'acme/new' }), ['It is now called acme/new.'])
  t.strictSame(told({ state: 'merged' }), ['It was merged.'])
  t.strictSame(told({ state: 'unheard of' }), [])
  t.strictSame(told({ state: 'constructor' }), [], 'what objects inherit is no sentence')
  t.strictSame(told({ state: { toString: 'merged' } }), [], 'an object that cannot become a text is no sentence')
  t.strictSame(told({ state: ['merged'] }), [], 'a list is no text')
  t.strictSame(told({ state: null }), [])
  t.strictSame(told({}), [])
  t.strictSame(factSentences({ words: { ...words, facts: {} } }, { target, params, facts: { forced: true } }), [])
  t.strictSame(factSentences(profile, { target, params }), [])
})
