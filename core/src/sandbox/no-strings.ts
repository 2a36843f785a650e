/**
 * Takes away what signals or slows processes, and what makes code of text or of bytes: what a plugin runs is in its files, which are signed
 * for. The flags of the process refuse `eval` and `new Function`. Imported before anything of the plugin, which may replace what it can
 * reach: so what is used here later is kept, and what Node's own loaders use is locked.
 */
import fs from 'node:fs'
import module from 'node:module'
import os from 'node:os'
import vm from 'node:vm'

type Members = Record<PropertyKey, unknown>

function refuse(): never {
  throw new Error('a plugin in the sandbox runs code of its files only')
}

function lock(object: object, ...names: readonly string[]): void {
  for (const name of names) Object.defineProperty(object, name, { writable: false, configurable: false })
}

const { apply } = Reflect
const { readFileSync } = fs
const startsWith = Function.prototype.call.bind(String.prototype.startsWith) as (text: string, start: string) => boolean

/** Node's loaders read files by these functions, and make texts of them. */
lock(fs, 'readFileSync')
lock(fs.promises, 'readFile')
lock(TextDecoder.prototype, 'decode')
/** Loaders of Node 20 await a file's text, and look for it where any object may have it. */
lock(Promise.prototype, 'then', 'constructor')
Object.preventExtensions(Object.prototype)

for (const name of Object.keys(vm)) (vm as unknown as Members)[name] = refuse

// The loader of CommonJS compiles by `_compile`, too. Whatever the function is given, it compiles what is in the file, in the usual wrapper.
const { wrap, prototype } = module as unknown as {
  wrap: (text: string) => string
  prototype: { _compile: (...args: unknown[]) => unknown }
}
const wrapped = wrap('')
const compile = prototype._compile
prototype._compile = function (this: unknown, _content: unknown, filename: unknown, ...rest: unknown[]) {
  const path = `${filename}`
  const content = readFileSync(path, 'utf8')
  if ((module as unknown as Members).wrap !== wrap || wrap('') !== wrapped) refuse()
  return apply(compile, this, [content, path, ...rest])
}

// WebAssembly is removed, because a destination could send its bytes. Node's own `fetch`, which comes with `Response`, compiles its parser as it
// loads, and would end the process if that failed; it has nothing to parse here.
Object.defineProperty(globalThis, 'WebAssembly', { value: { compile: () => new Promise(() => {}) } })

// Hooks refuse modules that are not files. Node 20 has no hooks: there a policy refuses the same, in `sandbox.ts`.
;(module as { registerHooks?: (hooks: object) => void }).registerHooks?.({
  resolve(specifier: string, context: unknown, next: (specifier: string, context: unknown) => { url: string }) {
    const resolved = next(specifier, context)
    return startsWith(resolved.url, 'file:') || startsWith(resolved.url, 'node:') ? resolved : refuse()
  },
})
// Keeps a plugin in an open sandbox, which runs as the service's user, from ending the service, opening its inspector by SIGUSR1, or taking its
// processors.
function refuseProcess(): never {
  throw new Error('a plugin in the sandbox acts on no process')
}
Object.assign(process, { kill: refuseProcess })
Object.assign(os, { setPriority: refuseProcess })
for (const name of ['_kill', '_debugProcess', '_debugEnd']) delete (process as unknown as Members)[name]
// Hooks of the plugin would give Node any text for a file.
for (const name of ['registerHooks', 'register']) (module as unknown as Members)[name] = refuse
module.syncBuiltinESMExports()
