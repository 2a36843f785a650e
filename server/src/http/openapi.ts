/** The OpenAPI description, generated from the schemas that the routes validate with. */
import { STATUS_CODES } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import swagger from '@fastify/swagger'
import { OAUTH_PATHS } from '../oauth/paths.ts'
import { SCOPES, scopeWords } from '../oauth/scopes.ts'
import type { App } from './instance.ts'

/** The version of the API, which is independent of the program's version. */
const API_VERSION = '0.1.0'

type Json = Record<string, unknown>

const SCOPE_WORDS = Object.fromEntries(SCOPES.map((scope) => [scope, scopeWords(scope)]))

/** Call it before the routes are declared, because it records them as they are. */
export async function describeApi(app: App, publicUrl: string | undefined): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Claimcheck',
        version: API_VERSION,
        description:
          'Checks claims of software agents by reading the destination itself, and issues receipts that anyone can check.',
      },
      ...(publicUrl === undefined ? {} : { servers: [{ url: publicUrl }] }),
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'svc_sk_...' },
          oauth: {
            type: 'oauth2',
            description: 'A token of an application that a member of the workspace allowed, or of a machine.',
            flows: {
              authorizationCode: {
                authorizationUrl: (publicUrl ?? '') + OAUTH_PATHS.authorize,
                tokenUrl: (publicUrl ?? '') + OAUTH_PATHS.token,
                refreshUrl: (publicUrl ?? '') + OAUTH_PATHS.token,
                scopes: SCOPE_WORDS,
              },
              clientCredentials: { tokenUrl: (publicUrl ?? '') + OAUTH_PATHS.token, scopes: SCOPE_WORDS },
            },
          },
        },
      },
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) return document.swaggerObject
      return withNamedSchemas(document.openapiObject as Json)
    },
  })
}

/** Moves each schema with a title to the components, so that readers see its name and generated clients get a type. */
function withNamedSchemas(document: Json): Json {
  const schemas: Json = {}

  function hoist(value: unknown, name: string | undefined): unknown {
    if (typeof value !== 'object' || value === null || DATA_KEYWORDS.has(name)) return value
    if (Array.isArray(value)) return value.map((item) => hoist(item, name === 'parameters' ? 'parameter' : undefined))
    const copy = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, hoist(member, key)]))
    if (name === 'responses') return describeResponses(copy as Record<string, Json>)
    if (name === 'parameter') return { ...copy, required: copy.required && !hasDefault(copy.schema) }
    const { title } = copy
    if (typeof title !== 'string' || name === 'info') return copy
    schemas[title] ??= copy
    // Two plugins may use the same title for different schemas.
    if (!isDeepStrictEqual(schemas[title], copy)) return copy
    return { $ref: `#/components/schemas/${title}` }
  }

  const named = hoist(document, undefined) as Json & { components: Json }
  return { ...named, components: { ...named.components, schemas } }
}

/** A parameter with a default is optional, although its schema, after defaults are applied, requires it. */
function hasDefault(schema: unknown): boolean {
  return (schema as Json).default !== undefined
}

// The values of these keywords are data, even when they look like schemas.
const DATA_KEYWORDS: ReadonlySet<string | undefined> = new Set(['examples', 'example', 'default', 'enum', 'const'])

function describeResponses(responses: Readonly<Record<string, Json>>): Json {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, { ...response, description: STATUS_CODES[status] }]),
  )
}
