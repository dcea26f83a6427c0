/**
 * RFC 6570 templates as the MCP SDK reads them: the client that expands one and the server that takes it apart must agree.
 */
export { UriTemplate } from "@modelcontextprotocol/server";
