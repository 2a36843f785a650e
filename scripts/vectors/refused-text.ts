/** Entries that a checker must refuse for how they are written. */
import { receipt, refused, toText, type Vector } from './world.ts'

const UNREADABLE = refused({
  spec_version: false,
  schema: false,
  integers_only: false,
  key: false,
  signature: false,
  claim_digest: false,
})

export async function refusedTexts(): Promise<Vector[]> {
  const good = toText(await receipt())
  const withFact = toText(await receipt((body) => (body.observation.facts = { name: 'a' })))
  const withNumbers = toText(await receipt((body) => (body.observation.facts = { count: 1000 })))

  const unreadable: [string, string, string][] = [
    ['empty', 'No text.', ''],
    ['no-json', 'Not JSON.', 'receipt'],
    ['cut', 'The text ends early.', good.slice(0, -3)],
    ['two-documents', 'Something follows the document.', good + good],
    ['array', 'Not an object.', `[${good}]`],
    ['null', 'Not an object.', 'null'],
    ['byte-order-mark', 'A byte order mark is not JSON.', `\ufeff${good}`],
    ['trailing-comma', 'A comma without a member.', withFact.replace('"name": "a"', '"name": "a",')],
    ['single-quotes', 'Strings of another language.', withFact.replace('"name"', "'name'")],
    ['comment', 'A comment.', withFact.replace('"name"', '/**/ "name"')],
    ['control-character', 'A line break within a string.', withFact.replace('"a"', '"a\n"')],
    ['bad-escape', 'An escape that JSON does not have.', withFact.replace('"a"', '"\\x61"')],
    ['no-break-space', 'A blank that is none in JSON.', withFact.replace('"name":', '"name":\u00a0')],
    ['leading-zero', 'A number with a leading zero.', withNumbers.replace('1000', '01000')],
    ['plus-sign', 'A number with a plus sign.', withNumbers.replace('1000', '+1000')],
    ['not-a-number', 'NaN.', withNumbers.replace('1000', 'NaN')],
    ['number-too-large', 'A number that no double holds.', withNumbers.replace('1000', '1e999')],
    [
      'duplicate-member',
      'A member twice, with the same value.',
      withFact.replace('"name": "a"', '"name": "a", "name": "a"'),
    ],
    [
      'duplicate-member-escaped',
      'A member twice, spelled differently.',
      withFact.replace('"name": "a"', '"name": "a", "\\u006eame": "b"'),
    ],
    [
      'duplicate-verdict',
      'Two verdicts: readers differ in which of them counts.',
      good.replace('"verdict":', '"verdict": { "value": "failed", "reason_code": "not_found" }, "verdict":'),
    ],
    ['lone-surrogate-escaped', 'Half a character, escaped.', withFact.replace('"a"', '"\\ud800"')],
    ['swapped-surrogates', 'Two halves in the wrong order.', withFact.replace('"a"', '"\\ude00\\ud83d"')],
    ['lone-surrogate-name', 'Half a character in a member name.', withFact.replace('"name"', '"\\udfff"')],
    ['deep', 'Nested deeper than any receipt.', withFact.replace('"a"', '['.repeat(1000) + ']'.repeat(1000))],
  ]
  const inexact: [string, string, string][] = [
    [
      'fraction',
      'A number that is no integer.',
      toText(await receipt((body) => (body.observation.facts = { score: 0.5 }))),
    ],
    ['fraction-of-zero', 'An integer written with a fraction.', withNumbers.replace('1000', '1000.0')],
    ['exponent', 'An integer written with an exponent.', withNumbers.replace('1000', '1e3')],
    ['attempts', 'Also where an integer is asked for.', good.replace('"attempts": 1', '"attempts": 1.0')],
    [
      'too-large',
      'An integer that some readers round.',
      toText(await receipt((body) => (body.observation.facts = { count: 2 ** 53 }))),
    ],
  ]
  return [
    ...unreadable.map(([name, description, text]) => ({
      name: `refused-text-${name}`,
      rule: `text/${name}`,
      description,
      text,
      expected: UNREADABLE,
    })),
    ...inexact.map(([name, description, text]) => ({
      name: `refused-integers-${name}`,
      rule: `integers_only/${name}`,
      description,
      text,
      expected: refused({ integers_only: false }),
    })),
  ]
}
