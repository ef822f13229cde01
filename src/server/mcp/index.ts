export { ERROR_META } from './replies.ts';
export { type McpOptions, serveMcp } from './serve-mcp.ts';
