// Calls tools of a gateway through the official SDK's client.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { authorization } from '../../faults/fake-wordpress.ts';
import type { Json } from '../../start-gateway.ts';

export interface ToolResult {
  isError: boolean;
  text: string;
  json: Json;
}

export interface ToolClient {
  names(): Promise<string[]>;
  call(name: string, args?: Record<string, unknown>): Promise<ToolResult>;
}

/** @param account of the fake WordPress; undefined: anonymous */
export async function connect(origin: string, account?: string): Promise<ToolClient> {
  const client = new Client({ name: 'test', version: '1' });
  const headers: Record<string, string> = account === undefined ? {} : { authorization: authorization(account) };
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', origin), { requestInit: { headers } });
  await client.connect(transport as Parameters<Client['connect']>[0]);
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name, args = {}) {
      const { isError, content, structuredContent } = await client.callTool({ name, arguments: args });
      const texts = (content as { type: string; text: string }[]).map(({ text }) => text);
      return { isError: isError === true, text: texts.join('\n'), json: structuredContent };
    },
  };
}
