/** What is the same by each comparator, and what is not. */
import { type Comparator, isSameBy } from '@claimcheck/core/rules'
import t from 'tap'

const HEX = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const BASE64 = '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
const BASE64URL = '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'

const same: Readonly<Record<Exclude<Comparator, 'none'>, readonly (readonly unknown[])[]>> = {
  exact: [
    [1, 1],
    [
      { a: 1, b: [true] },
      { b: [true], a: 1 },
    ],
  ],
  case: [['ABCdef0', 'abcdef0']],
  digest: [
    [HEX, HEX.toUpperCase(), `sha256:${HEX}`, `SHA256-${BASE64}`, `sha256-${BASE64URL}`, `sha256:${BASE64URL}`],
    ['a'.repeat(40), `sha1:${'A'.repeat(40)}`],
  ],
  address: [
    ['https://Example.com', 'HTTPS://example.com:443/', 'https://example.com/#top', 'https://example.com:'],
    ['https://example.com/%7ea%2fb?q=%41', 'https://example.com/~a%2Fb/?q=A'],
    ['http://example.com:80/a', 'http://example.com/a/'],
    // A scheme that is called like what every object inherits.
    ['constructor://example.com:/a', 'constructor://example.com/a'],
  ],
  package: [
    ['pypi:Flask_SQLAlchemy', 'pypi:flask-sqlalchemy', 'pypi:flask.-_sqlalchemy'],
    ['cargo:Serde_json', 'cargo:serde-json'],
    ['npm:left-pad', 'npm:left-pad'],
  ],
}

const other: Readonly<Record<Comparator, readonly (readonly [claimed: unknown, seen: unknown])[]>> = {
  exact: [
    ['a', 'A'],
    [1, '1'],
    [1, true],
    [{}, []],
  ],
  case: [
    ['a', 'b'],
    ['\u212a', 'k'],
    [1, 2],
    [['A'], ['a']],
  ],
  digest: [
    [HEX, HEX.replace('e', 'f')],
    [`sha256:${HEX}`, `sha512:${HEX}`],
    [HEX, HEX.slice(2)],
    ['sha256-AAAA', 'sha256-AAAB'],
    ['no digest', 'No digest'],
    [`sha256-${BASE64URL.slice(0, -1)}V`, HEX],
  ],
  address: [
    ['https://example.com/a', 'https://example.com/A'],
    ['https://example.com', 'http://example.com'],
    ['https://example.com/a', 'https://example.com/a?b'],
    ['https://example.com:444', 'https://example.com'],
    ['a', 'b'],
  ],
  package: [
    ['npm:JSONStream', 'npm:jsonstream'],
    ['npm:a-b', 'npm:a_b'],
    ['pypi:a', 'cargo:a'],
  ],
  none: [['a', 'b']],
}

for (const [comparator, groups] of Object.entries(same)) {
  t.test(`by ${comparator} these are the same`, async (t) => {
    for (const group of groups)
      for (const one of group)
        for (const two of group)
          t.ok(isSameBy(comparator as Comparator, one as never, two as never), `${one} and ${two}`)
  })
}
for (const [comparator, pairs] of Object.entries(other)) {
  t.test(`by ${comparator} these are not`, async (t) => {
    for (const [one, two] of pairs) {
      t.notOk(isSameBy(comparator as Comparator, one as never, two as never), `${one} and ${two}`)
      t.notOk(isSameBy(comparator as Comparator, two as never, one as never), `${two} and ${one}`)
    }
  })
}
