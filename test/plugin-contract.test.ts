// Test run: end-to-end, slow
/** The contract of plugins: each export of `@claimcheck/core/plugin`, and each member of its interfaces, has a package of `plugins` that uses it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve, sep } from 'node:path'
import t from 'tap'
import type * as TypeScript from './tools/runner/node_modules/typescript/lib/typescript.js'

// The test runner's TypeScript has an interface for programs.
const ts: typeof TypeScript = createRequire(resolve('test/tools/runner/package.json'))('typescript')

const MODULE = '@claimcheck/core/plugin'
const ENTRY = resolve('core/dist/plugin.d.ts')
const PLUGINS = resolve('plugins')

/** Exports and members without a user, each with the reason for which it stays. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  DeclaredCredential: 'credential() returns it: declarations of a package that exports such a value name it',
  'DeclaredCredential.name': 'credential() writes it, and the host reads it',
  Answer: 'http.head returns it: declarations of a package that exports a reading function name it',
  'Answer.url': 'only the address after redirects tells that something was moved, where an answer has no name in it',
  DigestAnswer: 'digest returns it: declarations of a package that exports a reading function name it',
  'Connection.id': 'the host tells connections apart by it',
  'Connection.identity': 'the host compares it with the identity that a check read',
  'ActionProfile.ageMs': 'evidence records it as a rule of the verdict',
  'ActionProfile.freshMs': 'evidence records it as a rule of the verdict',
}

const packages = readdirSync(PLUGINS).filter((name) => existsSync(join(PLUGINS, name, 'package.json')))

/** The files in a folder of all packages, without those of tests. */
function filesIn(folder: string, ending: string): string[] {
  return packages
    .map((name) => join(PLUGINS, name, folder))
    .filter((at) => existsSync(at))
    .flatMap((at) => readdirSync(at, { recursive: true, encoding: 'utf8' }).map((file) => join(at, file)))
    .filter((file) => file.endsWith(ending) && !file.split(sep).includes('test'))
}

const sources = filesIn('src', '.ts')
const program = ts.createProgram([ENTRY, ...sources], {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  types: ['node'],
})
const checker = program.getTypeChecker()
const contract = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(ENTRY)!)!)

interface Member {
  readonly name: string
  readonly isOptional: boolean
  /** The places of its declarations, which types that extend or pick its own share. */
  readonly places: readonly string[]
}

const placesOf = ({ declarations = [] }: Pick<TypeScript.Symbol, 'declarations'> = {}) =>
  declarations.map((node) => `${node.getSourceFile().fileName}:${node.pos}`)

/** The members of exported interfaces by their names, also those that they inherit. Those of DOM and the language are no part of the contract. */
const interfaces = new Map<string, readonly Member[]>()

const taken = new Set<TypeScript.Type>()

/** Takes an interface, and those that its members are of: what a plugin declares is of interfaces that it does not name. */
function take(type: TypeScript.Type): void {
  if (taken.has(type)) return
  taken.add(type)
  const symbol = type.getSymbol()
  const isInterface = symbol !== undefined && (symbol.flags & ts.SymbolFlags.Interface) !== 0
  if (type.isUnionOrIntersection()) for (const part of type.types) take(part)
  else if (isInterface && isOfCore(placesOf(symbol)) && !interfaces.has(symbol.name)) {
    const members = type.getProperties().filter((member) => isOfCore(placesOf(member)))
    interfaces.set(
      symbol.name,
      members.map((member) => ({
        name: member.name,
        isOptional: (member.flags & ts.SymbolFlags.Optional) !== 0,
        places: placesOf(member),
      })),
    )
    for (const member of members) take(checker.getTypeOfSymbol(member))
  } else {
    for (const { type: entry } of checker.getIndexInfosOfType(type)) take(entry)
  }
}

const isOfCore = (places: readonly string[]) => places.some((place) => place.includes('/core/dist/'))

for (const exported of contract) {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
  if (symbol.flags & ts.SymbolFlags.Interface) take(checker.getDeclaredTypeOfSymbol(symbol))
}

/** The places of members without a user so far, by the names of the members. */
const open = new Map<string, Set<string>>()
for (const { name, places } of [...interfaces.values()].flat())
  open.set(name, new Set([...(open.get(name) ?? []), ...places]))
const isOpen = (name: string) => (open.get(name)?.size ?? 0) > 0

function close({ name, places }: Pick<Member, 'name' | 'places'>): void {
  for (const place of places) open.get(name)?.delete(place)
}

function closeIn(type: TypeScript.Type, name: string): void {
  for (const one of type.isUnion() ? type.types : [type]) {
    const member = one.getProperty(name)
    if (member) close({ name, places: placesOf(member) })
  }
}

/** Closes the members that a literal writes. One of which no type is expected counts for each interface whose required members it has. */
function closeWritten(node: TypeScript.ObjectLiteralExpression): void {
  const names = node.properties.flatMap(({ name }) => (name && ts.isIdentifier(name) ? [name.text] : []))
  if (!names.some(isOpen)) return
  const expected = checker.getContextualType(node)
  for (const name of names) if (expected) closeIn(expected, name)
  // A value that is given to a function which takes any type is expected to be of its own.
  const parts = expected?.isUnion() ? expected.types : [expected]
  const isExpected = (name: string) => parts.some((part) => isOfCore(placesOf(part?.getProperty(name))))
  if (names.some(isExpected)) return
  for (const members of interfaces.values())
    if (members.every(({ name, isOptional }) => isOptional || names.includes(name)))
      for (const member of members) if (names.includes(member.name)) close(member)
}

function closeUsed(node: TypeScript.Node): void {
  if (ts.isPropertyAccessExpression(node)) {
    if (isOpen(node.name.text)) closeIn(checker.getTypeAtLocation(node.expression), node.name.text)
  } else if (ts.isObjectBindingPattern(node)) {
    for (const { propertyName, name } of node.elements) {
      const read = propertyName ?? name
      if (ts.isIdentifier(read) && isOpen(read.text)) closeIn(checker.getTypeAtLocation(node), read.text)
    }
  } else if (ts.isObjectLiteralExpression(node)) closeWritten(node)
  else if (ts.isHeritageClause(node) && node.token === ts.SyntaxKind.ImplementsKeyword) {
    for (const type of node.types)
      for (const member of checker.getTypeAtLocation(type).getProperties())
        close({ name: member.name, places: placesOf(member) })
  }
  ts.forEachChild(node, closeUsed)
}

for (const file of sources) closeUsed(program.getSourceFile(file)!)

/** The exports that packages import, or name in what they declare to others. */
const imported = new Set([
  ...sources.flatMap((file) =>
    program.getSourceFile(file)!.statements.flatMap((statement) => {
      if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) return []
      const named = statement.importClause?.namedBindings
      if (statement.moduleSpecifier.text !== MODULE || !named || !ts.isNamedImports(named)) return []
      return named.elements.map(({ propertyName, name }) => (propertyName ?? name).text)
    }),
  ),
  ...filesIn('dist', '.d.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/import\("@claimcheck\/core\/plugin"\)\.(\w+)/g)].map(([, name]) => name!),
  ),
])

/** Members that types inherit are named once. */
const namedPlaces = new Set<string>()
const unused = [
  ...contract.map(({ name }) => name).filter((name) => !imported.has(name)),
  ...[...interfaces].flatMap(([type, members]) =>
    members
      .filter(({ name, places }) => places.every((place) => open.get(name)!.has(place) && !namedPlaces.has(place)))
      .map(({ name, places }) => {
        for (const place of places) namedPlaces.add(place)
        return `${type}.${name}`
      }),
  ),
]

t.test('each export of the contract, and each member of its interfaces, has a package that uses it', async (t) => {
  t.ok(contract.length > 50 && interfaces.size > 30, `${contract.length} exports, ${interfaces.size} interfaces`)
  t.strictSame(
    unused.filter((name) => !Object.hasOwn(EXCEPTIONS, name)),
    [],
  )
})

t.test('no exception has a user', async (t) => {
  t.strictSame(
    Object.keys(EXCEPTIONS).filter((name) => !unused.includes(name)),
    [],
  )
})
