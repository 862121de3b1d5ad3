"""A server of gRPC or of WebSockets, over TLS: services.py grpc|websocket ADDRESS PORT CHAIN KEY"""

import ssl
import sys
from concurrent import futures

kind, address, port, chain, key = sys.argv[1:]


def serve_grpc():
    """/test.Echo/Say returns what it is sent, /test.Echo/Count a stream of numbers."""
    import grpc
    methods = {
        "Say": grpc.unary_unary_rpc_method_handler(lambda request, _context: b"heard " + request),
        "Count": grpc.unary_stream_rpc_method_handler(
            lambda request, _context: (str(number).encode() for number in range(int(request)))),
    }
    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Echo", methods),))
    with open(key, "rb") as private, open(chain, "rb") as certificates:
        credentials = grpc.ssl_server_credentials([(private.read(), certificates.read())])
    assert server.add_secure_port(f"{address}:{port}", credentials)
    server.start()
    server.wait_for_termination()


def serve_websocket():
    """Each message comes back."""
    from aiohttp import web

    async def repeat(request):
        frames = web.WebSocketResponse()
        await frames.prepare(request)
        async for message in frames:
            await frames.send_str("heard " + message.data)
        return frames
    app = web.Application()
    app.router.add_get("/", repeat)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    web.run_app(app, host=address, port=int(port), ssl_context=context, print=None)


serve_grpc() if kind == "grpc" else serve_websocket()
